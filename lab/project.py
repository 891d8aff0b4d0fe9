"""The project as the lab's engine sees it: the real program, and a copy of the stack file with lab secrets.

The stack file in the checkout is never written. Every value that is encrypted there, and every secret that a platform
or a patch asks for, gets a value made up for this run and encrypted with the run's own passphrase.

``python -m lab.project STACK`` writes the copy again after the stack file changed, and adds its new machines.
"""

import re
import secrets
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from engine import PROJECT, ROOT
from lab import control, plugins
from lab.errors import LabError
from lab.passphrase import Passphrase
from lab.run import Run
from lab.settings import chosen
from lab.stackfile import StackError, StackFile, read

PLATFORM_SECRETS = {"proxmox": {"proxmoxApiToken": "lab@pve!talos={uuid}"}}
"""Secrets that a platform needs, with the pattern of their values."""
ASKED = re.compile(r"""\bsecret\(\s*(?:name\s*=\s*)?["']([A-Za-z][A-Za-z0-9_-]*)["']\s*\)""")
ENCRYPTION_KEYS = ("secretsprovider", "encryptedkey", "encryptionsalt")


def write(stack: StackFile, run: Run, root: Path = ROOT) -> None:
    """Write Pulumi.yaml and the stack file into the run's project folder."""
    project = _load(root / "Pulumi.yaml")
    project["main"] = str((root / str(project.get("main") or ".")).resolve())
    runtime = project.get("runtime")
    options = runtime.get("options", {}) if isinstance(runtime, dict) else {}
    if "virtualenv" in options:
        options["virtualenv"] = str(root / options["virtualenv"])
    project["plugins"] = plugins.declared(run)
    _dump(project, run.project / "Pulumi.yaml")

    target = run.project / stack.path.name
    earlier = _load(target) if target.exists() else {}
    passphrase = Passphrase(run.passphrase.read_text(), earlier.get("encryptionsalt"))
    wanted = asked(stack, root)
    lab = LabSecrets(passphrase, earlier.get("config") or {}, wanted)
    copy = _load(stack.path)
    for key in ENCRYPTION_KEYS:
        copy.pop(key, None)
    config = copy.setdefault("config", {})
    lab.replace_in(config)
    make_up_machine_secrets(config)
    for name, pattern in wanted.items():
        config.setdefault(f"{PROJECT}:{name}", lab.secret((f"{PROJECT}:{name}",), pattern))
    copy["encryptionsalt"] = passphrase.state
    _dump(copy, target)


def make_up_machine_secrets(config: dict[str, Any]) -> None:
    """Let the lab's cluster generate its secrets where the stack imports those of a real one, unless LAB_IMPORT=yes."""
    cluster: Any = config.get(f"{PROJECT}:cluster")
    asked_for = cluster.get("secrets") if isinstance(cluster, dict) else None
    if isinstance(asked_for, dict) and "importFrom" in asked_for and not chosen("LAB_IMPORT"):
        cluster["secrets"] = {"generate": True}


class LabSecrets:
    """Values made up for secrets; a value given once stays the same for the whole run."""

    def __init__(self, passphrase: Passphrase, earlier: Mapping[str, Any], patterns: Mapping[str, str]) -> None:
        """Take over the encrypted values of ``earlier``, the configuration as written before; ``patterns`` by key."""
        self.passphrase = passphrase
        self._patterns = {f"{PROJECT}:{name}": pattern for name, pattern in patterns.items()}
        self._earlier = earlier

    def replace_in(self, container: Any, path: tuple[str | int, ...] = ()) -> None:
        """Put a lab value in the place of everything encrypted in ``container``, a mapping or a list."""
        entries = enumerate(container) if isinstance(container, list) else container.items()
        for key, value in list(entries):
            if isinstance(value, dict) and set(value) == {"secure"} and isinstance(value["secure"], str):
                container[key] = self.secret((*path, key), self._patterns.get(str(key), "{value}"))
            elif isinstance(value, dict | list):
                self.replace_in(value, (*path, key))

    def secret(self, path: tuple[str | int, ...], pattern: str) -> dict[str, str]:
        """Return the encrypted lab value for the secret at ``path``."""
        found: Any = self._earlier
        for step in path:
            try:
                found = found[step]
            except (KeyError, IndexError, TypeError):
                found = None
                break
        if isinstance(found, dict) and isinstance(found.get("secure"), str):
            return {"secure": found["secure"]}
        return {
            "secure": self.passphrase.encrypt(pattern.format(value=f"lab-{secrets.token_hex(16)}", uuid=uuid.uuid4()))
        }


def asked(stack: StackFile, root: Path) -> dict[str, str]:
    """Return the names of the secrets that the platform and the patches ask for, with the patterns of their values."""
    names = dict(PLATFORM_SECRETS.get(stack.platform, {}))
    for template in sorted((root / "patches").rglob("*.j2")):
        for name in ASKED.findall(template.read_text()):
            names.setdefault(name, "{value}")
    return names


def add_machines(stack: StackFile, run: Run) -> list[str]:
    """Power on the machines that the stack file lists and the world does not have yet; return their names."""
    # By address: a node under another name is still the machine that stands there.
    there = {machine["address"] for machine in control.machines(at=run.socket)}
    new = [hardware for hardware in stack.hardware() if hardware["address"] not in there]
    for hardware in new:
        control.create_machine(hardware, at=run.socket)
    return [str(hardware["name"]) for hardware in new]


def _yaml() -> YAML:
    """Return a reader and writer that keeps quotes: the engine may read an unquoted off as false."""
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 1 << 30
    return yaml


def _load(path: Path) -> dict[str, Any]:
    try:
        found = _yaml().load(path.read_text())
    except YAMLError as error:
        raise StackError(f"{path} is not YAML: {error}") from error
    return found if isinstance(found, dict) else {}


def _dump(value: Any, path: Path) -> None:
    unfinished = path.with_suffix(".new")
    with unfinished.open("w") as file:
        _yaml().dump(value, file)
    unfinished.replace(path)


def main(arguments: list[str]) -> int:
    """Bring the run of a stack up to date with its stack file."""
    run = Run(arguments[0])
    try:
        stack = read(run.stack, Path(run.settings()["root"]))
        write(stack, run, stack.path.parent)
        add_machines(stack, run)
    except (LabError, StackError, control.ControlError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
