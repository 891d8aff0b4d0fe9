"""Killing the engine at an exact point of a run.

The points are read from where they count: the state that the next run will find, and the journal of what the machines
saw. The engine is halted at each change of either, looked at, and let go on or killed. So nothing of the lab, the
program or the engine is changed for it, and it does not happen that a step slips by because the observer was slow.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import control
from tests.stack.rehearsal import CHECKOUT, Rehearsal, name_of
from tests.waiting import eventually

UP = ("pulumi", "up", "--yes", "--skip-preview", "--non-interactive")
LOOK_EVERY = 0.0005
"""Seconds; the engine needs longer from one write of its state to the next."""
LONGEST_RUN = 240.0
"""Seconds."""


@dataclass(frozen=True)
class Seen:
    """What is on record of a run: names like ``Secrets machine-secrets``."""

    recorded: frozenset[str]
    pending: frozenset[str]
    events: tuple[str, ...]
    """The kinds of what the machines saw, in order."""


def look(rehearsal: Rehearsal) -> Seen:
    """Read the state as it lies in its file, and the journal."""
    latest = state_of(rehearsal)
    return Seen(
        frozenset(name_of(resource["urn"]) for resource in latest.get("resources") or []),
        frozenset(name_of(operation["resource"]["urn"]) for operation in latest.get("pending_operations") or []),
        tuple(entry["event"] for entry in rehearsal.journal()),
    )


def state_of(rehearsal: Rehearsal) -> dict[str, Any]:
    """Return the checkpoint in its file: what a run that begins now would begin with."""
    latest: dict[str, Any] = json.loads(state_file(rehearsal).read_text())["checkpoint"]["latest"] or {}
    return latest


def state_file(rehearsal: Rehearsal) -> Path:
    """Return the file of the stack's state."""
    return rehearsal.run.folder / "state/.pulumi/stacks/talos-stacks" / f"{rehearsal.stack}.json"


def kill_when(rehearsal: Rehearsal, now: Callable[[Seen], bool]) -> Seen | None:
    """Start ``pulumi up`` and kill the engine as soon as ``now`` holds; None when it ended well before that."""
    with started(rehearsal) as process:
        engine = holder_of_the_lock(rehearsal, process)
        seen = watch(rehearsal, process, engine, now)
        if seen is None:
            assert process.wait(LONGEST_RUN) == 0, f"the run failed by itself:\n{output_of(rehearsal).read_text()}"
            return None
        assert process.wait(60) == 128 + signal.SIGKILL
    return look(rehearsal)


@contextmanager
def started(rehearsal: Rehearsal) -> Iterator["subprocess.Popen[bytes]"]:
    """Run ``pulumi up`` in the lab; it is gone afterwards in any case."""
    with output_of(rehearsal).open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "lab", "--project", str(rehearsal.project), "run", rehearsal.stack, "--", *UP],
            cwd=CHECKOUT,
            env=os.environ | {"LAB_HOME": str(rehearsal.run.home)},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def output_of(rehearsal: Rehearsal) -> Path:
    """Return the file with what killed runs printed."""
    return rehearsal.run.folder / "killed-runs.log"


def watch(
    rehearsal: Rehearsal, process: "subprocess.Popen[bytes]", engine: int, now: Callable[[Seen], bool]
) -> Seen | None:
    """Kill ``engine`` at the first state or journal for which ``now`` holds, and return it."""
    before: object = None
    deadline = time.monotonic() + LONGEST_RUN
    while process.poll() is None:
        assert time.monotonic() < deadline, "the run neither came to the point nor to its end"
        mark = marks(rehearsal)
        if mark == before:
            time.sleep(LOOK_EVERY)
            continue
        with suppress(ProcessLookupError):
            os.kill(engine, signal.SIGSTOP)
            seen = look(rehearsal)
            if now(seen):
                os.kill(engine, signal.SIGKILL)
                return seen
            before = marks(rehearsal)
            os.kill(engine, signal.SIGCONT)
    return None


def marks(rehearsal: Rehearsal) -> tuple[int, ...]:
    """Return numbers that change with every write of the state or the journal."""
    state, journal = state_file(rehearsal).stat(), rehearsal.run.journal.stat()
    return (state.st_ino, state.st_mtime_ns, state.st_size, journal.st_size)


def holder_of_the_lock(rehearsal: Rehearsal, process: "subprocess.Popen[bytes]") -> int:
    """Wait until the engine holds the lock of the stack and return its process id."""

    def holder() -> int | None:
        assert process.poll() is None, f"the run ended before it began:\n{output_of(rehearsal).read_text()}"
        with suppress(OSError, ValueError):  # not there yet, not written yet
            return next((int(json.loads(lock.read_text())["pid"]) for lock in locks(rehearsal)), None)
        return None

    pid = eventually(holder, what="the lock of the run")
    assert pid is not None
    assert Path(f"/proc/{pid}/exe").readlink().name == "pulumi"
    return pid


def locks(rehearsal: Rehearsal) -> list[Path]:
    """Return the files of the locks of the stack."""
    folder = rehearsal.run.folder / "state/.pulumi/locks/organization/talos-stacks" / rehearsal.stack
    return sorted(folder.glob("*.json"))


def left_behind(rehearsal: Rehearsal) -> list[str]:
    """Return the command lines of what runs inside the lab; the world and its machines are not inside."""
    mark = f"{control.VARIABLE}={rehearsal.run.socket}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):  # ended meanwhile, or another user's
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    # Real plugins notice the end of their engine in their own time, which is not ours to test.
    real = ["/pulumi-language-python ", *(["pulumi-resource-talos"] if os.environ.get("LAB_PLUGINS") == "real" else [])]
    return [command for command in found if not any(name in command for name in real)]


def recover(rehearsal: Rehearsal, *options: str) -> str:
    """Run the one documented command, ``make recover STACK=…``, as make does, and return what it said."""
    said = rehearsal.command(sys.executable, "-m", "engine", "recover", "--stack", rehearsal.stack, *options)
    eventually(lambda: not left_behind(rehearsal), within=20, what="the end of what the killed engine had started")
    return said
