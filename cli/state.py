"""What only the stack's state and encrypted configuration know: asked of the pulumi command, kept in memory alone.

Secrets come through a pipe. None is ever in an argument, a file or a message.
"""

import base64
import binascii
import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli import labs
from cli.errors import CliError
from cli.stackfile import StackFile
from cli.terminal import tell
from engine import PROJECT, messages
from engine.tools import PULUMI, ToolError, binary
from machinery import Bundle, ConfigError
from machinery.secrets import from_properties, normalised
from talosapi import Credentials

_SECRETS = "talos:machine/secrets:Secrets"
_APPLIED = "talos:machine/configurationApply:ConfigurationApply"
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_LONGEST = 300.0  # seconds
_REASONS = (
    (
        messages.NO_STACK,
        "has no state here: bring it up with `make up STACK={stack}`, or log in to its backend with `pulumi login`",
    ),
    (
        re.compile("incorrect passphrase", re.I),
        "cannot be read: the passphrase is wrong; set PULUMI_CONFIG_PASSPHRASE to the right one",
    ),
    (
        re.compile("passphrase must be set|passphrase.*not.*set", re.I),
        "cannot be read without its passphrase: set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE",
    ),
    (
        messages.NOWHERE,
        "cannot be read: log in to its backend with `pulumi login`",
    ),
)
"""What the engine says, and what to do about it."""


@dataclass(frozen=True)
class State:
    """The secrets of one stack that is up."""

    bundle: Bundle = field(repr=False)
    credentials: Credentials = field(repr=False)
    config: Mapping[str, str] = field(repr=False)
    """Every encrypted value of the stack's configuration, by its key."""
    applied: Mapping[str, str] = field(default_factory=dict)
    """The URN of each applied configuration, by the name of its node."""


def read(stack: StackFile) -> State:
    """Ask for the state of a stack; raises CliError where there is none, or it cannot be read, or has no secrets."""
    engine = _engine()
    exported = _pulumi(engine, stack, "stack", "export", "--show-secrets")
    resources = (exported.get("deployment") or {}).get("resources") or ()
    found = next(
        (resource for resource in resources if resource.get("type") == _SECRETS and not resource.get("delete")), None
    )
    outputs = _opened((found or {}).get("outputs"))
    if not outputs:
        raise CliError(f"the stack {stack.name} has no machine secrets yet: bring it up, `make up STACK={stack.name}`")
    try:
        return State(
            from_properties(outputs["machineSecrets"]),
            _credentials(normalised(outputs["clientConfiguration"])),
            _config(engine, stack),
            {each["urn"].rpartition("::")[2]: each["urn"] for each in resources if each.get("type") == _APPLIED},
        )
    except (ConfigError, KeyError, TypeError, ValueError, binascii.Error):
        raise CliError(f"the machine secrets in the state of {stack.name} cannot be read") from None


def _config(engine: Path, stack: StackFile) -> dict[str, str]:
    found = _pulumi(engine, stack, "config", "--show-secrets", "--json")
    prefix = f"{PROJECT}:"
    return {
        key.removeprefix(prefix): str(entry.get("value", ""))
        for key, entry in found.items()
        if isinstance(entry, dict) and entry.get("secret")
    }


def _engine() -> Path:
    try:
        return binary(PULUMI, tell)
    except ToolError as error:
        raise CliError(str(error)) from None


def _pulumi(engine: Path, stack: StackFile, *arguments: str) -> dict[str, Any]:
    environment = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true", "NO_COLOR": "1"}
    command = [str(engine), *arguments, "--stack", stack.name, "--non-interactive"]
    try:
        ended = subprocess.run(
            command,
            cwd=stack.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CliError(f"pulumi could not be asked for the state of {stack.name}: {type(error).__name__}") from None
    if ended.returncode:  # stdout is where secrets are
        raise CliError(_reason(stack.name, ended.stderr) + labs.hint(stack))
    try:
        found: dict[str, Any] = json.JSONDecoder().raw_decode(ended.stdout, ended.stdout.index("{"))[0]
    except ValueError:
        raise CliError(f"pulumi {arguments[0]} {arguments[1]} of {stack.name} printed no JSON") from None
    return found


def _reason(stack: str, said: str) -> str:
    for words, sentence in _REASONS:
        if words.search(said):
            return f"the stack {stack} {sentence.format(stack=stack)}"
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["it did not say why"]
    errors = [line for line in lines if line.startswith("error: ")] or lines[-1:]
    return f"the engine did not return the state of {stack}: {errors[0].removeprefix('error: ')}"


def _opened(value: Any) -> Any:
    """A value of the state without the envelopes of its secrets."""
    if isinstance(value, dict):
        if _SIGNATURE in value:
            return _opened(json.loads(value["plaintext"])) if "plaintext" in value else None
        return {key: _opened(item) for key, item in value.items()}
    return [_opened(item) for item in value] if isinstance(value, list) else value


def _credentials(found: Any) -> Credentials:
    names = ("cacertificate", "clientcertificate", "clientkey")
    return Credentials(*(base64.b64decode(found[name], validate=True) for name in names))
