"""What an edit of the stack file would do to a cluster that lives: refused, or said, before anything is changed."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from components.record import Applied, Images, Record, tag_of
from components.upgrades import Upgrades, few, listed
from findings import NOTHING, Finding, Path
from machineconfig import Plan
from machineconfig.checks.configuration import Final, made
from topology import Node, Topology
from versioning import read_version

_RETIRING = "docs/operations.md, Retiring a control plane"


@dataclass(frozen=True)
class Words:
    """What a platform has to say of a machine: it leaves the stack file, or gets another address there."""

    leaves: str
    readdressed: str
    """Empty where the platform gives its machines their addresses."""


@dataclass(frozen=True)
class Edits:
    """The stack file of now against the record of a living cluster; of a new one there is nothing to say."""

    record: Record
    plan: Plan
    words: Words

    @property
    def refused(self) -> list[Finding]:
        """What cannot be done to a living cluster."""
        if not self.record.lives:
            return []
        return [
            *self._missing(),
            *self._other_roles(),
            *self._other_addresses(),
            *self._contract(),
            *self._kubernetes(),
            *self._upgrades.refused,
        ]

    @property
    def warnings(self) -> list[Finding]:
        """What will not happen, or happens to something that the preview does not show."""
        if not self.record.lives:
            return []
        return [*self._leaving_workers(), *self._upgrades.warnings, *self._kubeconfig()]

    @property
    def notes(self) -> list[str]:
        """What will happen to machines of a living cluster, beside what the preview shows."""
        return self._upgrades.notes if self.record.lives else []

    @property
    def _upgrades(self) -> Upgrades:
        return Upgrades(self.record, self.plan)

    @property
    def _topology(self) -> Topology:
        return self.plan.topology

    @cached_property
    def _pairs(self) -> list[tuple[Applied, Node]]:
        return [(self.record.nodes[node.name], node) for node in self._topology.nodes if node.name in self.record.nodes]

    @cached_property
    def _gone(self) -> list[Applied]:
        names = {node.name for node in self._topology.nodes}
        return [node for name, node in sorted(self.record.nodes.items()) if name not in names]

    def _missing(self) -> Iterator[Finding]:
        gone = [node for node in self._gone if node.is_controlplane]
        members = sum(node.is_controlplane for node in self.record.nodes.values())
        if len(gone) == 1:
            (node,) = gone
            yield Finding.at(
                ("nodes",),
                NOTHING,
                f"{_one(node)} is missing, but is one of the {members} control planes of this cluster and a member of"
                " its etcd",
                f"put it back, or retire it first ({_RETIRING}): while all others are healthy"
                f" `talosctl -n {node.address} reset`, then"
                f" `pulumi state delete --force --target-dependents '{node.urn}'`",
            )
        elif gone:
            yield Finding.at(
                ("nodes",),
                NOTHING,
                f"{listed([_one(node) for node in gone])} are missing, but are {len(gone)} of the {members} control"
                " planes of this cluster and members of its etcd, which ends without a majority",
                f"put them back; control planes are retired one at a time ({_RETIRING})",
            )

    def _other_roles(self) -> Iterator[Finding]:
        for old, node in self._pairs:
            if old.is_controlplane is not node.is_controlplane:
                was = "controlplane, and a member of etcd" if old.is_controlplane else "worker"
                yield Finding.at(
                    (*self._place(node), "role"),
                    node.role,
                    f"is not what {node.name} was installed as ({was}); a machine keeps its role until it is reset",
                    f"put it back; to change it, take the node out and add it as a new one ({_RETIRING})",
                )

    def _other_addresses(self) -> Iterator[Finding]:
        for old, node in self._pairs:
            if self.words.readdressed and old.address != str(node.address):
                yield Finding.at(
                    (*self._place(node), "address"),
                    str(node.address),
                    f"is not where {node.name} lives ({old.address}); a machine's address is its identity, and"
                    f" {self.words.readdressed}",
                    f"put {old.address} back; another address is another machine: take this one out and then add the"
                    f" other, one at a time ({_RETIRING})",
                )

    def _contract(self) -> Iterator[Finding]:
        now, then = str(self._topology.versions.contract), self.record.contract
        if then not in ("", now):
            yield Finding.at(
                ("versions", "contract"),
                now,
                f"is not what this cluster was created with ({then}); it decides about defaults and never changes",
                f"put {then} back; the version that runs is versions.talos",
            )

    def _kubernetes(self) -> Iterator[Finding]:
        """Kubernetes goes up one minor version at a time, and never down one."""
        wanted = self._topology.versions.kubernetes
        nodes: dict[str, list[Node]] = defaultdict(list)
        for old, node in self._pairs:
            tag = tag_of(old.images.kubelet)
            version = read_version(tag)
            if version and version != wanted and wanted.contract != version.contract:
                up = wanted.major == version.major and wanted.minor == version.minor + 1
                if not up and tag_of(self._images(old, node).kubelet) == str(wanted):
                    nodes[tag].append(node)
        for tag, found in nodes.items():
            down = wanted < (read_version(tag) or wanted)
            yield Finding.at(
                ("versions", "kubernetes"),
                str(wanted),
                f"is {'a minor version or more below' if down else 'more than one minor version above'} {tag}, which"
                f" {few(found)} run",
                f"stay at {tag.rpartition('.')[0]} or newer; what etcd holds cannot be taken back"
                if down
                else "go up one minor version, run `up`, then the next",
            )

    def _leaving_workers(self) -> Iterator[Finding]:
        for node in self._gone:
            if not node.is_controlplane:
                yield Finding.at(
                    ("nodes",),
                    NOTHING,
                    f"{_one(node)} is no longer among them: {self.words.leaves}, and its Node stays in Kubernetes",
                    f"`kubectl drain {node.name}` before the run, `kubectl delete node {node.name}` after it",
                )

    def _kubeconfig(self) -> Iterator[Finding]:
        urn, host = self.record.kubeconfig or ("", "")
        if host in ("", self._topology.endpoint.url):
            return
        final = self._final(self._topology.bootstrap)
        if f"endpoint: {host}\n" not in final:
            yield Finding.at(
                ("endpoint",),
                self._topology.endpoint.url,
                f"is not the endpoint in the output kubeconfig ({host}), which is made once",
                f"after the run `pulumi state delete --force '{urn}'` and `up` again make a new one",
            )

    def _images(self, old: Applied, node: Node) -> Images:
        """The images of the configuration that a node would get."""
        final = self._final(node)
        return Images.of(final) if final else old.images

    def _final(self, node: Node) -> str:
        found = made(self._topology, node, self.plan.patches[node.name])
        return found.text if isinstance(found, Final) else ""

    def _place(self, node: Node) -> Path:
        return ("nodes", self._topology.nodes.index(node))


def _one(node: Applied) -> str:
    return f"{node.name} ({node.address})"
