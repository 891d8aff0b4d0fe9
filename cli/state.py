"""The machine secrets of a cluster, from the stack's state into memory and nowhere else."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli.errors import CliError
from machinery import Bundle, ConfigError, read_secrets_yaml

PROJECT = Path(__file__).resolve().parents[1]
"""The checkout, which is the Pulumi project."""
SECRETS = "talos:machine/secrets:Secrets"
_PATIENCE = 300.0
"""Seconds; the engine may have to be built first."""
_SIGNATURE = "4dabf18193072939515e22adb298388d"
"""The key with which the engine says that a value of the state is a secret."""
_AUTHORITIES = {"etcd": "etcd", "k8s": "k8s", "k8saggregator": "k8sAggregator", "os": "os"}
_REASONS = (
    (
        "no stack named|no stack selected",
        'has no state here: bring it up with `make up STACK={stack}`, or log in where its state is with "pulumi login"',
    ),
    ("incorrect passphrase", "cannot be read: the passphrase is wrong; set PULUMI_CONFIG_PASSPHRASE to the right one"),
    (
        "passphrase must be set|passphrase.*not.*set",
        "cannot be read without its passphrase: set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE",
    ),
    (
        "PULUMI_ACCESS_TOKEN|not logged in|must be logged in",
        'cannot be read: log in where its state is with "pulumi login"',
    ),
)


class StateError(CliError):
    """The secrets of a stack cannot be had; the text is one sentence, and holds none of them."""


def secrets_of(stack: str, project: Path = PROJECT) -> Bundle:
    """Return what the resource of the machine secrets holds, decrypted by the engine; raises StateError."""
    given = _machine_secrets(stack, project)
    parts = {name: _map(given, name) for name in ("cluster", "secrets", "trustdinfo", "certs")}
    certs = {name: _pair(_map(parts["certs"], ours)) for name, ours in _AUTHORITIES.items()}
    document = {
        "cluster": parts["cluster"],
        "secrets": {name.lower(): value for name, value in parts["secrets"].items()},
        "trustdinfo": parts["trustdinfo"],
        "certs": {**certs, "k8sserviceaccount": _pair(_map(parts["certs"], "k8sServiceaccount"))},
    }
    try:
        return read_secrets_yaml(json.dumps(document))
    except ConfigError as error:
        raise StateError(f"the machine secrets in the state of {stack} are incomplete: {error}") from None


def resources_of(stack: str, project: Path = PROJECT) -> list[dict[str, Any]]:
    """Return the resources in the state of a stack, with every secret readable; raises StateError."""
    try:
        exported = json.loads(_engine(stack, project, "stack", "export", "--show-secrets"))
    except ValueError:
        raise StateError(f"the engine gave a state of {stack} that is not JSON") from None
    deployment = exported.get("deployment") if isinstance(exported, dict) else None
    found = (deployment or {}).get("resources") or []
    return [_plain(resource) for resource in found]


def _machine_secrets(stack: str, project: Path) -> Mapping[str, Any]:
    for resource in resources_of(stack, project):
        if resource.get("type") == SECRETS and not resource.get("delete"):
            return _map(_map(resource, "outputs"), "machineSecrets")
    raise StateError(f"the state of {stack} holds no machine secrets yet: bring it up with `make up STACK={stack}`")


def _engine(stack: str, project: Path, *arguments: str) -> str:
    """Run pulumi, from PATH or built once, and return what it printed."""
    command = [sys.executable, "-m", "lab.engine", "--cwd", str(project), "--non-interactive", *arguments]
    quiet = {"NO_COLOR": "1", "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        ended = subprocess.run(
            [*command, "--stack", stack],
            cwd=PROJECT,
            env=os.environ | quiet,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise StateError(f"the engine did not give the state of {stack} within {_PATIENCE:.0f} s") from None
    if ended.returncode:
        raise StateError(_reason(stack, ended.stderr))
    return ended.stdout


def _reason(stack: str, said: str) -> str:
    for words, sentence in _REASONS:
        if re.search(words, said, re.IGNORECASE):
            return f"the stack {stack} {sentence.format(stack=stack)}"
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["it did not say why"]
    errors = [line for line in lines if line.startswith("error: ")] or lines[-1:]
    return f"the engine does not give the state of {stack}: {errors[0].removeprefix('error: ')}"


def _plain(value: Any) -> Any:
    """Take what the engine wraps around secrets away."""
    if isinstance(value, dict):
        if _SIGNATURE in value and "plaintext" in value:
            return _plain(json.loads(value["plaintext"]))
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _map(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _pair(pair: Mapping[str, Any]) -> dict[str, Any]:
    return {"crt": pair.get("cert"), "key": pair.get("key")}
