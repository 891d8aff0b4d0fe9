"""Nodes: names, roles, zones."""

from collections.abc import Iterator

from findings import NOTHING, Finding, near
from topology.topology import Topology


def names_are_unique(topology: Topology) -> Iterator[Finding]:
    """A name belongs to one node."""
    seen: dict[str, int] = {}
    for index, node in enumerate(topology.nodes):
        if node.name in seen:
            message = f"is also the name of the node with address {topology.nodes[seen[node.name]].address}"
            yield Finding.at(("nodes", index, "name"), node.name, message, "give every node a name of its own")
        seen.setdefault(node.name, index)


def some_node_is_a_control_plane(topology: Topology) -> Iterator[Finding]:
    """A cluster has a control plane."""
    if not topology.controlplanes:
        cure = "give one node, or three, the role controlplane"
        yield Finding.at(("nodes",), NOTHING, "has no control plane", cure)


def control_planes_are_odd(topology: Topology) -> Iterator[Finding]:
    """An even number of etcd members survives no more than one fewer, and is lost more easily."""
    count = len(topology.controlplanes)
    if count == 2 and topology.rollout.accept_quorum_loss:
        message = "has 2 control planes: etcd and Kubernetes's API stop while one of them is down, as is accepted"
        yield Finding.at(("rollout", "acceptQuorumLoss"), True, message, "use 3 for a cluster that keeps working")
    elif count and count % 2 == 0:
        message = f"has {count} control planes, which survive the loss of {(count - 1) // 2}, as {count - 1} would"
        yield Finding.at(("nodes",), NOTHING, message, f"take {count - 1} or {count + 1}")


def quorum_loss_is_accepted_of_two(topology: Topology) -> Iterator[Finding]:
    """One control plane goes down as it must, and three or more keep their majority: nothing is to be accepted."""
    count = len(topology.controlplanes)
    if topology.rollout.accept_quorum_loss and count != 2:
        message = f"is for exactly 2 control planes, and there {'is' if count == 1 else 'are'} {count}"
        yield Finding.at(("rollout", "acceptQuorumLoss"), True, message, "leave this key out")


def some_node_takes_pods(topology: Topology) -> Iterator[Finding]:
    """Ordinary pods need a worker or control planes that take them."""
    if topology.controlplanes and not topology.workers and not topology.allow_scheduling_on_control_planes:
        message = "leaves no node for ordinary pods: there is no worker"
        yield Finding.at(("allowSchedulingOnControlPlanes",), False, message, "add a worker or leave this key out")


def bootstrap_node_is_a_control_plane(topology: Topology) -> Iterator[Finding]:
    """etcd starts on a control plane."""
    name = topology.bootstrap_node
    if name is None:
        return
    controlplanes = [node.name for node in topology.controlplanes]
    if name in controlplanes:
        return
    loc, known = ("bootstrapNode",), {node.name for node in topology.nodes}
    if name in known:
        yield Finding.at(
            loc, name, "is a worker, and etcd starts on a control plane", f"name {' or '.join(controlplanes)}"
        )
    else:
        cure = f"name a control plane{near(name, controlplanes)}, or leave it out for the first"
        yield Finding.at(loc, name, "is not a node", cure)


def zones_are_declared(topology: Topology) -> Iterator[Finding]:
    """A node's zone is one of ``zones``; where there are zones, every node is in one."""
    for index, node in enumerate(topology.nodes):
        if node.zone is None and topology.zones:
            cure = f"give it one of {', '.join(topology.zones)}"
            yield Finding.at(("nodes", index, "zone"), node.name, "is in no zone, but the stack has zones", cure)
        elif node.zone is not None and node.zone not in topology.zones:
            cure = f"declare it in zones{near(node.zone, topology.zones)}"
            yield Finding.at(("nodes", index, "zone"), node.zone, f"of {node.name} is not a declared zone", cure)


def waivers_name_nodes(topology: Topology) -> Iterator[Finding]:
    """A waiver for one node names a node of this cluster."""
    known = {node.name for node in topology.nodes}
    for index, waiver in enumerate(topology.waivers):
        if waiver.node is not None and waiver.node not in known:
            cure = f"name a node{near(waiver.node, known)}, or leave it out for all"
            yield Finding.at(("waivers", index, "node"), waiver.node, "is not a node", cure)
