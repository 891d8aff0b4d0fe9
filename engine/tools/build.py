"""Building one Go program from a folder that pins it, once per user even when several runs want it at the same time."""

import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.locks import hold

EVERY = 100
"""Off a terminal, one line of progress for so many packages."""


class ToolError(Exception):
    """A program that is neither there nor can be built; the text says what to do."""


@dataclass(frozen=True)
class Plan:
    """One program to build."""

    folder: Path
    """Where go.mod and go.sum pin it."""
    package: str
    program: Path
    """The file that it becomes."""
    linker: str
    """Flags for the linker, or empty."""
    duration: str
    """How long it takes on two cores."""
    reason: str
    """Why the one on PATH is not taken."""


def build(plan: Plan, report: Callable[[str], None]) -> None:
    """Build a program, whose file appears only when it is whole; raises ToolError, which says what to do."""
    program = plan.program
    program.parent.mkdir(parents=True, exist_ok=True)
    with hold(program.parent / ".lock", lambda: report(f"==> waiting: another run builds {program.name}")):
        if program.exists():
            return
        compiler = shutil.which("go")
        if not compiler:
            raise ToolError(
                f"{plan.reason}, and Go, which would build {program.name}, is missing: install Go"
                f" ({wanted_go(plan.folder)} or newer, https://go.dev/dl), or a version of {program.name} that fits"
            )
        report(f"==> building {program.parent.name}, once, about {plan.duration} on two cores")
        unfinished = program.with_name(f".{program.name}.{os.getpid()}")
        flags = ["-ldflags", plan.linker] if plan.linker else []
        command = [compiler, "build", "-v", "-o", str(unfinished), *flags, plan.package]
        try:
            run(command, plan.folder, report)
            unfinished.replace(program)
        finally:
            unfinished.unlink(missing_ok=True)
        report(f"==> {program}")


def run(command: list[str], folder: Path, report: Callable[[str], None]) -> None:
    """Run a Go command with what is pinned and show how far it is; raises ToolError with the end of what it said."""
    flags = " ".join(word for word in os.environ.get("GOFLAGS", "").split() if not word.startswith("-mod"))
    environment = os.environ | {"GOFLAGS": f"{flags} -mod=readonly -buildvcs=false".strip(), "GOWORK": "off"}
    try:
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            last = deque(progress(process.stdout or (), report), maxlen=12)
    except OSError as error:
        raise ToolError(
            f"{command[0]} is on PATH and cannot be started ({error.strerror}); repair it, or install Go"
        ) from error
    if process.returncode:
        raise ToolError("the build failed; the last lines were:\n  " + "\n  ".join(last))


def progress(lines: Iterable[str], report: Callable[[str], None]) -> Iterator[str]:
    """Pass ``lines`` on and show them: all on one line of a terminal, elsewhere one in a hundred."""
    terminal = sys.stderr.isatty()
    for count, line in enumerate((line.rstrip() for line in lines), start=1):
        if terminal:
            sys.stderr.write(f"\r\033[K  {count:5} {line[:90]}")
            sys.stderr.flush()
        elif count % EVERY == 0:
            report(f"  {count:5} {line}")
        yield line
    if terminal:
        sys.stderr.write("\r\033[K")


def wanted_go(folder: Path) -> str:
    """Return the Go version that the folder's go.mod asks for."""
    for line in (folder / "go.mod").read_text().splitlines():
        if line.startswith("go "):
            return line.removeprefix("go ")
    return "a current version"
