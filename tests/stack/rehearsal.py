"""A copy of the program that a test may change, rehearsed in a lab of its own with the real engine."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from lab import control
from lab.run import Run

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAM = (
    "__main__.py",
    "components",
    "findings",
    "kubeapi",
    "machineconfig",
    "machinery",
    "patches",
    "provider",
    "talosapi",
    "topology",
    "versioning",
)
Json = dict[str, Any]


class Rehearsal:
    """One stack in one lab. ``project`` is the copy, ``topology`` what its stack file says."""

    def __init__(self, folder: Path, stack: str = "lab") -> None:
        """Copy the program and a stack of the checkout."""
        self.stack = stack
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        for part in PROGRAM:
            source = CHECKOUT / part
            copy: Callable[..., object] = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, self.project / part)
        project = yaml.safe_load((CHECKOUT / "Pulumi.yaml").read_text())
        project["runtime"]["options"]["virtualenv"] = sys.prefix
        (self.project / "Pulumi.yaml").write_text(yaml.safe_dump(project))
        self.topology: Json = yaml.safe_load((CHECKOUT / f"Pulumi.{stack}.yaml").read_text())["config"][
            "talos-stacks:cluster"
        ]
        self.config: Json = {}
        self.run = Run(stack, folder / "runs")
        self.save()

    def save(self) -> None:
        """Write the stack file; racks what a running lab does not have yet."""
        config = {"talos-stacks:cluster": self.topology, **self.config}
        (self.project / f"Pulumi.{self.stack}.yaml").write_text(yaml.safe_dump({"config": config}, sort_keys=False))
        if self.run.settings():
            self._lab("start", self.stack)

    def patch(self, path: str, text: str) -> None:
        """Add or replace a file of patches/."""
        file = self.project / "patches" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def start(self) -> None:
        """Start the lab with its machines, and an empty Pulumi stack."""
        self._lab("start", self.stack)

    def down(self) -> None:
        """End it."""
        self._lab("down", self.stack)

    def pulumi(self, *arguments: str, fails: bool = False, timeout: float = 240) -> str:
        """Run pulumi inside and return what it printed; it must succeed, or fail if ``fails``."""
        ended = self._lab("run", self.stack, "--", "pulumi", *arguments, check=False, timeout=timeout)
        output = ended.stdout + ended.stderr
        assert (ended.returncode != 0) is fails, (
            f"pulumi {' '.join(arguments)} ended with {ended.returncode}:\n{output}"
        )
        return output

    def command(self, *command: str, fails: bool = False) -> str:
        """Run any command inside and return what it printed; it must succeed, or fail if ``fails``."""
        ended = self._lab("run", self.stack, "--", *command, check=not fails)
        assert bool(ended.returncode) is fails, f"{' '.join(command)} ended well:\n{ended.stdout}"
        return ended.stdout + (ended.stderr if fails else "")

    def up(self, **options: Any) -> str:
        """``pulumi up``."""
        return self.pulumi("up", "--yes", "--skip-preview", "--non-interactive", **options)

    def steps(self, *arguments: str) -> dict[str, str]:
        """Preview and return what would be done to each resource, by name and kind; what stays the same is left out."""
        output = self.pulumi("preview", "--json", "--non-interactive", *arguments)
        found = first_json(output)["steps"]
        return {name_of(step["urn"]): step["op"] for step in found if step["op"] != "same"}

    def node(self, name: str) -> Json:
        """Return a node of the stack file."""
        found: Json = next(node for node in self.topology["nodes"] if node["name"] == name)
        return found

    def state(self, *, show_secrets: bool = False) -> list[Json]:
        """Return the resources of the stack, secrets encrypted unless they are asked for."""
        shown = ["--show-secrets"] if show_secrets else []
        deployment = first_json(self.pulumi("stack", "export", *shown))["deployment"]
        resources: list[Json] = deployment.get("resources", [])
        return resources

    def forget(self, name: str) -> None:
        """Take the applied configuration of a node off the record, as after its retirement."""
        urn = next(each["urn"] for each in self.state() if each["urn"].endswith(f":ConfigurationApply::{name}"))
        self.pulumi("state", "delete", "--force", "--target-dependents", "--yes", urn)

    def outputs(self, *, secrets: bool = False) -> Json:
        """Return the outputs of the stack."""
        shown = ["--show-secrets"] if secrets else []
        return first_json(self.pulumi("stack", "output", "--json", *shown))

    def journal(self, event: str | None = None) -> list[Json]:
        """Return what the machines saw, all of it or one kind of event."""
        written = self.run.journal.read_text()
        whole = written[: written.rfind("\n") + 1]  # the machines write on while this reads
        entries = [json.loads(line) for line in whole.splitlines()]
        return [entry for entry in entries if event in (None, entry["event"])]

    def fault(self, machine: str, name: str, **arguments: float) -> None:
        """Switch a fault on."""
        control.fault(machine, name, arguments, at=self.run.socket)

    def clear(self, machine: str, name: str) -> None:
        """Switch a fault off."""
        control.clear_fault(machine, name, at=self.run.socket)

    def power(self, machine: str, state: str) -> None:
        """Turn a machine on or off, or cycle it."""
        control.power(machine, state, at=self.run.socket)

    def printed(self) -> Iterator[tuple[str, str]]:
        """Yield every text that the run left in files, except the state, which is encrypted value by value."""
        for file in sorted(self.run.folder.rglob("*")):
            if file.is_file() and file.suffix in {".log", ".jsonl", ".json", ".txt"} and "home" not in file.parts:
                yield str(file), file.read_text(errors="replace")

    def _lab(self, *arguments: str, check: bool = True, timeout: float = 120) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "lab", "--project", str(self.project), *arguments]
        environment = os.environ | {"LAB_HOME": str(self.run.home), "NO_COLOR": "1", "LAB_IMPORT": "yes"}
        ended = subprocess.run(
            command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
        if check:
            assert ended.returncode == 0, f"{' '.join(command)}:\n{ended.stdout}{ended.stderr}"
        return ended


def first_json(output: str) -> Json:
    """Return the first JSON object in what was printed, which warnings may surround."""
    found: Json = json.JSONDecoder().raw_decode(output, output.index("{"))[0]
    return found


def name_of(urn: str) -> str:
    """Return ``Kind name`` of a URN."""
    kind, name = urn.split("::")[-2:]
    return f"{kind.split(':')[-1]} {name}"
