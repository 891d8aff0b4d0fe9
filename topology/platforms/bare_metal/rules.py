"""Bare metal: what must go together."""

from collections.abc import Iterator

from findings import NOTHING, Finding, near
from topology.disk import same_disk
from topology.platforms.bare_metal.node import BareMetalNode
from topology.platforms.bare_metal.settings import BareMetalSettings
from topology.topology import Topology


def vip_has_an_interface(topology: Topology) -> Iterator[Finding]:
    """A control plane must know the name of the interface that carries the VIP: metal names it after its hardware."""
    if topology.network.vip is None:
        return
    for index, node in enumerate(topology.nodes):
        if node.is_controlplane and topology.interface_of(node) is None:
            yield Finding.at(
                ("nodes", index, "interface"),
                node.name,
                f"is to carry the VIP {topology.network.vip} on an interface without a name",
                "name it here or in network.interface, as talosctl get links shows it",
            )


def link_names_the_interface(topology: Topology) -> Iterator[Finding]:
    """Where a link says how a machine is connected, no interface is named beside it."""
    linked = [topology.platform.link_of(node) for node in topology.nodes]
    if topology.network.interface is not None and any(linked):
        cure = "leave it out, and give nodes that differ a link of their own"
        message = "is named, and platform.link or a node's link says how the machines are connected"
        yield Finding.at(("network", "interface"), topology.network.interface, message, cure)
    for index, (node, link) in enumerate(zip(topology.nodes, linked, strict=True)):
        if node.interface is not None and link is not None:
            message = f"of {node.name} is named, and the link {link.name} holds its address"
            cure = f"leave it out, or write link: {{ name: {node.interface} }}"
            yield Finding.at(("nodes", index, "interface"), node.interface, message, cure)


def disks_are_told_apart(topology: Topology) -> Iterator[Finding]:
    """Two names of one node's disks must not select one disk."""
    for index, node in enumerate(topology.nodes):
        if isinstance(node, BareMetalNode):
            disks = list(node.disks.items())
            for at, (name, disk) in enumerate(disks):
                for other, earlier in disks[:at]:
                    if same_disk(disk, earlier):
                        yield Finding.at(
                            ("nodes", index, "disks", name),
                            disk.identity,
                            f"is also the disk {other} of {node.name}",
                            "give one disk one name",
                        )


def volumes_have_a_disk_on_every_worker(topology: Topology) -> Iterator[Finding]:
    """Every worker has the disk of every volume, and Talos itself is on another one."""
    if not isinstance(topology.platform, BareMetalSettings):
        return
    for index, node in enumerate(topology.nodes):
        if node.is_controlplane or not isinstance(node, BareMetalNode):
            continue
        for name, volume in topology.platform.volumes.items():
            disk = node.disks.get(volume.disk)
            if disk is None:
                cure = f"declare it in the disks of {node.name}{near(volume.disk, node.disks)}"
                message = f"of {node.name} has no {volume.disk}, which the volume {name} is made on"
                also = (("nodes", index, "disks", volume.disk),)
                yield Finding.at(("nodes", index, "disks"), NOTHING, message, cure, also)
            elif same_disk(disk, node.install_disk):
                message = f"of {node.name} is the disk of the volume {name}, and Talos is installed on it"
                yield Finding.at(("nodes", index, "disks", volume.disk), disk.identity, message, "name another disk")
