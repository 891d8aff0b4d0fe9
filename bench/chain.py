"""The longest chain of waits in a bring-up, from the lab's journal: what no program could make shorter.

Machines work side by side, so their waits count once, the longest: from its configuration a machine installs, reboots
and boots. Then come the waits that follow from each other: from the bootstrap etcd starts, the other control planes
join it one after the other, each API server and each kubelet comes up. Between the two lies what is the program's own:
the time in which a machine waits for its configuration, and the ready bootstrap node for the bootstrap.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
_UP = ("etcd-up", "etcd-voting", "apiserver-up", "kubelet-joined")
"""After the last of these the cluster has all that its gate asks for."""


@dataclass(frozen=True)
class Chain:
    """Real seconds. ``installing``: the longest time from a configuration to the end of the boot that follows it;
    ``joining``: from the bootstrap to the last machine that is up."""

    installing: float
    joining: float

    @property
    def seconds(self) -> float:
        """The whole chain."""
        return self.installing + self.joining


def read(journal: Path) -> list[Entry]:
    """Return the entries of a journal."""
    return [json.loads(line) for line in journal.read_text().splitlines()]


def chain(entries: Sequence[Entry], speed: float) -> Chain:
    """Measure the chain; ``speed`` is how many of the journal's seconds pass in a real one."""
    configured, running = _first(entries, "configuration"), _first(entries, "running")
    if not running or configured.keys() - running.keys():
        raise ValueError("the journal shows no finished bring-up: a machine was configured and never ran")
    installing = max(running[machine] - at for machine, at in configured.items())
    (bootstrap,) = _first(entries, "etcd-bootstrap").values()
    up = max(entry["at"] for entry in entries if entry["event"] in _UP)
    return Chain(installing / speed, (up - bootstrap) / speed)


def _first(entries: Iterable[Entry], event: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for entry in entries:
        if entry["event"] == event:
            found.setdefault(entry["machine"], entry["at"])
    return found
