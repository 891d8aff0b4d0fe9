"""What a command costs: wall time, and CPU time and peak memory of each kind of process that takes part.

Read from /proc while it runs. A process's CPU time is that of its last sample, so up to one pace of it is missed.
"""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PACE = 0.03
"""Seconds between two samples."""
_TICKS = os.sysconf("SC_CLK_TCK")
_KINDS: tuple[tuple[str, str], ...] = (
    ("languagehost", "program"),
    ("pulumi-language-", "program"),
    ("lab.standin.", "plugin"),
    ("pulumi-resource-", "plugin"),
    ("lab.world", "world"),
    ("/etcd", "etcd"),
    ("/pulumi", "engine"),
)
"""The first text that a command line holds names the kind of its process."""


@dataclass
class Use:
    """Of the processes of one kind: CPU time of all in seconds, peak resident memory of the largest in MB."""

    cpu: float = 0.0
    memory: float = 0.0


@dataclass
class Cost:
    """What one command cost. ``uses`` by kind: engine, program, plugin, world, etcd."""

    wall: float
    uses: dict[str, Use] = field(default_factory=dict)
    output: str = field(default="", repr=False)


class CommandError(Exception):
    """A measured command failed; the text ends with what it printed."""


def run(command: Sequence[str], environment: Mapping[str, str], beside: Sequence[int] = ()) -> Cost:
    """Run ``command`` and measure it with its descendants; ``beside`` are roots of other processes that take part."""
    began = time.monotonic()
    process = subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
    )
    with _Sampler([process.pid, *beside]) as sampler:
        output = process.communicate()[0].decode(errors="replace")
        wall = time.monotonic() - began
    if process.returncode:
        raise CommandError(f"{' '.join(command)} ended with {process.returncode}:\n{output[-4000:]}")
    return Cost(wall, sampler.uses(), output)


def measured(work: Callable[[], object], pid: int) -> Cost:
    """Do ``work`` in this process, and measure the process ``pid`` that does it in the end."""
    with _Sampler([pid]) as sampler:
        began = time.monotonic()
        work()
        wall = time.monotonic() - began
    return Cost(wall, sampler.uses())


class _Sampler:
    """Looks at some processes and their descendants until it is left."""

    def __init__(self, roots: Sequence[int]) -> None:
        self._roots = roots
        self._over = threading.Event()
        self._kinds: dict[int, str] = {}
        self._cpu: dict[int, tuple[float, float]] = {}
        self._memory: dict[int, float] = {}
        self._parents: dict[int, int] = {}
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "_Sampler":
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    def uses(self) -> dict[str, Use]:
        """Return what was seen, by kind."""
        found: dict[str, Use] = {}
        for pid, (first, last) in self._cpu.items():
            use = found.setdefault(self._kinds[pid], Use())
            use.cpu += last - first
            use.memory = max(use.memory, self._memory[pid])
        return found

    def _watch(self) -> None:
        while not self._over.wait(PACE):
            self._look()

    def _look(self) -> None:
        for pid in self._family():
            kind = _kind(pid)
            if kind is None:
                continue
            try:
                cpu, memory = _cpu(pid), _peak(pid)
            except (OSError, ValueError, IndexError):
                continue  # it has just ended
            if self._kinds.get(pid) != kind:  # new, or has become another program
                before = 0.0 if self._thread.is_alive() else cpu  # what was there at first has a past of its own
                self._kinds[pid], self._cpu[pid] = kind, (before, cpu)
            self._cpu[pid] = (self._cpu[pid][0], cpu)
            self._memory[pid] = memory

    def _family(self) -> list[int]:
        """Return the roots and their descendants. Only processes that are new are asked for their parents."""
        there = {int(entry) for entry in os.listdir("/proc") if entry.isdigit()}  # noqa: PTH208 - numbers, not paths
        parents = {pid: parent for pid, parent in self._parents.items() if pid in there}
        for pid in there - parents.keys():
            try:
                parents[pid] = int(_stat(pid)[1])
            except (OSError, ValueError, IndexError):
                continue  # it has just ended
        self._parents = parents
        family = [pid for pid in self._roots if pid in there]
        for pid in family:
            family += [child for child, parent in parents.items() if parent == pid]
        return family


def _kind(pid: int) -> str | None:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None
    program = " ".join(line.split()[:4])
    return next((kind for text, kind in _KINDS if text in program), None)


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _cpu(pid: int) -> float:
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _peak(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    raise ValueError(f"process {pid} has ended")
