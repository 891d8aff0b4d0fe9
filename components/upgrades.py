"""What an edit of the stack file makes of the Talos that the machines run: refused, or said, at preview."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from components.record import Record, Running, tag_of
from findings import Finding
from machineconfig import Plan
from topology import Node
from topology.compatibility import SUPPORT
from versioning import read_version
from versioning.upgrades import refusal

_SHOWN = 5
"""How many nodes a line names."""
_PLACE = ("versions", "talos")


@dataclass(frozen=True)
class Upgrades:
    """The stack file of now against what the machines of a living cluster run."""

    record: Record
    plan: Plan

    @property
    def refused(self) -> list[Finding]:
        """Steps that Talos does not take."""
        return [*self._steps(), *self._kubernetes()]

    @property
    def warnings(self) -> list[Finding]:
        """Machines of which nothing is known yet: they are upgraded where they run something else."""
        unknown = [node for node in self._nodes() if node.name not in self.record.releases]
        if not unknown:
            return []
        message = f"is not known to run on {few(unknown)}: `up` asks them, and upgrades those that run something else"
        return [Finding.at(_PLACE, self._wanted, message, "see what they run first: `talosctl version`")]

    @property
    def notes(self) -> list[str]:
        """What happens to which machines."""
        nodes: dict[str, list[Node]] = defaultdict(list)
        for node, running in self._changing():
            nodes[self._change(node, running)].append(node)
        at_once = self.plan.topology.rollout.workers_at_once
        how = (
            "each installs it, its pods are moved away and it reboots; one control plane at a time, then"
            f" {at_once} worker{'' if at_once == 1 else 's'} at a time"
        )
        return [f"Talos {change} on {few(found)}: {how}" for change, found in nodes.items()]

    @property
    def _wanted(self) -> str:
        return str(self.plan.topology.versions.talos)

    def _nodes(self) -> Iterator[Node]:
        topology = self.plan.topology
        return (node for node in topology.nodes if node.name in self.record.nodes and topology.installs(node))

    def _changing(self) -> Iterator[tuple[Node, Running]]:
        for node in self._nodes():
            running = self.record.releases.get(node.name)
            if running and running != Running(self._wanted, self.plan.schematics[node.name].id):
                yield node, running

    def _change(self, node: Node, running: Running) -> str:
        if running.version != self._wanted:
            return f"{running.version} to {self._wanted}"
        wanted = self.plan.schematics[node.name].id
        return f"{self._wanted} with other extensions or kernel arguments ({running.schematic[:8]} to {wanted[:8]})"

    def _steps(self) -> Iterator[Finding]:
        nodes: dict[str, list[Node]] = defaultdict(list)
        for node, running in self._changing():
            if refusal(running.version, self._wanted):
                nodes[running.version].append(node)
        for version, found in nodes.items():
            why = refusal(version, self._wanted)
            yield Finding.at(_PLACE, self._wanted, f"cannot be given to {few(found)}", why)

    def _kubernetes(self) -> Iterator[Finding]:
        """Talos goes first, so the new one has to take the Kubernetes that runs."""
        support = SUPPORT.get(self.plan.topology.versions.talos.contract)
        nodes: dict[str, list[Node]] = defaultdict(list)
        for node, running in self._changing():
            tag = tag_of(self.record.nodes[node.name].images.kubelet)
            version = read_version(tag)
            if support is None or version is None or running.version == self._wanted:
                continue
            if not support.kubernetes_from <= version.contract <= support.kubernetes_to:
                nodes[tag].append(node)
        for tag, found in nodes.items():
            assert support is not None  # noqa: S101 - nothing was found without it
            takes = f"{support.kubernetes_from} to {support.kubernetes_to}"
            message = f"does not take Kubernetes {tag}, which {few(found)} run (it takes {takes})"
            yield Finding.at(_PLACE, self._wanted, message, "bring Kubernetes there first, in a run of its own")


def few(nodes: Sequence[Node]) -> str:
    """Return the names of nodes, of many only the first."""
    names = [node.name for node in nodes]
    return listed(names if len(names) <= _SHOWN else [*names[: _SHOWN - 1], f"{len(names) - _SHOWN + 1} more"])


def listed(names: Iterable[str]) -> str:
    """Return names with commas and an "and"."""
    *first, last = names
    return " and ".join(filter(None, (", ".join(first), last)))
