"""Programs from PATH, or built once from their pinned Go modules; ``pulumi`` is one, the lab has others.

Every tool has a folder with a go.mod and go.sum of its own, which pin it and everything it is made of. A program
on PATH is used if its version fits; otherwise the one built earlier in the user's cache folder; otherwise it is built.
Nothing else is downloaded.
"""

import mmap
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.tools.build import Plan, ToolError, build

__all__ = ["PULUMI", "Tool", "ToolError", "binary"]

Version = tuple[int, int, int]


@dataclass(frozen=True)
class Tool:
    """A program with its pinned module and the versions on PATH that do as well."""

    name: str
    package: str
    module: str
    oldest: Version
    """Versions from this one on, of the same major version, are taken from PATH."""
    question: tuple[str, ...]
    """The arguments that make it print its version."""
    folder: Path
    """The folder with go.mod and go.sum."""
    linker: str = ""
    """Linker flags, with ``{version}``; a plain build of pulumi does not know its own version."""
    duration: str = "a minute"
    """How long a first build takes on two cores."""

    @property
    def version(self) -> str:
        """The pinned version, like 3.6.5."""
        found = re.search(rf"{re.escape(self.module)} v(\d+\.\d+\.\d+)", (self.folder / "go.mod").read_text())
        if not found:
            raise ToolError(f"{self.folder / 'go.mod'} does not pin {self.module}")
        return found.group(1)


PULUMI = Tool(
    name="pulumi",
    package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    module="github.com/pulumi/pulumi/pkg/v3",
    oldest=(3, 238, 0),  # older ones go on where an after hook fails, so a rollout would not stop; as in Pulumi.yaml
    question=("version",),
    folder=Path(__file__).parent / "pulumi",
    linker="-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{version}",
    duration="four minutes",
)


def binary(tool: Tool, report: Callable[[str], None] = print) -> Path:
    """Return the program ``tool``, building it where it is missing; progress goes to ``report`` line by line.

    Raises ToolError, which says what to do, when it cannot be built.
    """
    found = shutil.which(tool.name)
    unfit = misfit(tool, Path(found)) if found else f"{tool.name} is not on PATH"
    if found and not unfit:
        return Path(found).resolve()
    program = cache() / f"{tool.name}-{tool.version}" / tool.name
    if found:
        report(f"==> {unfit}; taking {tool.name} {tool.version} instead")
    if not program.exists():
        linker = tool.linker.format(version=tool.version)
        build(Plan(tool.folder, tool.package, program, linker, tool.duration, unfit), report)
    return program


def cache() -> Path:
    """Return the user's folder for built programs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "talos-stacks" / "tools"


def misfit(tool: Tool, program: Path) -> str:
    """Return why the program at this path cannot serve as ``tool``, empty where it can."""
    version = version_of(tool, program)
    if version is None:
        return f"{program} does not say its version"
    if version >= tool.oldest and version[0] == tool.oldest[0]:
        return ""
    oldest = f"{dotted(tool.oldest)} is needed, or a newer one of version {tool.oldest[0]}"
    return f"{program} is {tool.name} {dotted(version)}, and {oldest}"


def dotted(version: Version) -> str:
    """Return a version as people write it."""
    return ".".join(map(str, version))


def version_of(tool: Tool, program: Path) -> Version | None:
    """Return what the program says of itself, or what its Go build information says; None if neither is readable."""
    quiet = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        said = subprocess.run(
            [program, *tool.question], capture_output=True, text=True, timeout=30, env=quiet, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\bv?(\d+)\.(\d+)\.(\d+)", said.stdout)
    numbers = found.groups() if found else built_from(tool, program)
    return (int(numbers[0]), int(numbers[1]), int(numbers[2])) if numbers else None


def built_from(tool: Tool, program: Path) -> tuple[str, ...] | None:
    """Return the module version recorded in a Go program; a pulumi made with ``go install`` prints none."""
    pattern = rb"(?:dep|mod)\t" + re.escape(tool.module.encode()) + rb"\tv(\d+)\.(\d+)\.(\d+)"
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        found = re.search(pattern, content)
        return tuple(part.decode() for part in found.groups()) if found else None
