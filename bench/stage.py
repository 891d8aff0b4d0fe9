"""Where the measurements take place: a lab of its own in a temporary folder, and the engine in it."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import processes, topologies
from bench.processes import Cost
from engine import ROOT
from engine.tools import PULUMI, binary
from lab.run import Run

BARE = "bare"
"""The stack of the bare program."""
_QUIET = ("--non-interactive", "--suppress-outputs", "--suppress-progress", "--color=never")


class Stage:
    """One lab with the machines of one topology. Every command is measured inside it, the world beside it."""

    def __init__(self, folder: Path, topology: dict[str, Any]) -> None:
        """Write the project of the topology; nothing runs yet."""
        self.folder = folder
        self.topology = topology
        self.project = folder / "project"
        topologies.write(self.project, topology)
        self.run = Run(topologies.STACK, folder / "runs")
        self._engine = str(binary(PULUMI, lambda _: None))

    def start(self) -> None:
        """Start the world, with an empty Pulumi stack in it."""
        self._lab("start", topologies.STACK)

    def down(self) -> None:
        """End the world and remove what it left."""
        self._lab("down", topologies.STACK)

    def preview(self, project: Path | None = None) -> Cost:
        """Preview, as `make preview` does."""
        return self.pulumi("preview", *_QUIET, project=project, PULUMI_SKIP_CHECKPOINTS="true")

    def up(self, project: Path | None = None) -> Cost:
        """Bring the stack up."""
        return self.pulumi("up", "--yes", "--skip-preview", *_QUIET, project=project)

    def pulumi(self, *arguments: str, project: Path | None = None, **variables: str) -> Cost:
        """Run the engine on a project: the cluster's, unless another one is given."""
        stack = BARE if project else topologies.STACK
        command = [self._engine, "--cwd", str(project or self.run.project), *arguments, "--stack", stack]
        return processes.run(self.inside(command), self.environment() | variables, self.world())

    def environment(self) -> dict[str, str]:
        """Return the environment inside; compiled modules are kept, as they are wherever nobody forbids it."""
        return {name: value for name, value in self.run.environment().items() if name != "PYTHONDONTWRITEBYTECODE"}

    def inside(self, command: list[str]) -> list[str]:
        """Return ``command`` as it is run inside."""
        settings = self.run.settings()
        entering = [sys.executable, str(ROOT / "lab" / "enter.py"), str(settings["pid"])]
        return [*entering, *command] if settings.get("sealed") else command

    def world(self) -> tuple[int, ...]:
        """Return the process of the world."""
        pid = self.run.settings().get("pid")
        return (int(pid),) if pid else ()

    def _lab(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "lab", "--project", str(self.project), *arguments]
        environment = os.environ | {"LAB_HOME": str(self.run.home)}
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise processes.CommandError(f"lab {' '.join(arguments)}:\n{ended.stdout}{ended.stderr}")


@contextmanager
def staged(nodes: int) -> Iterator[Stage]:
    """Provide a stage with that many machines, and take it down in every case."""
    with tempfile.TemporaryDirectory(prefix="talos-stacks-bench-") as folder:
        stage = Stage(Path(folder), topologies.cluster(nodes))
        stage.start()
        try:
            yield stage
        finally:
            stage.down()
