"""Bare metal: machines that are there already and wait in maintenance mode under their own addresses."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from topology.disk import Disk, DiskValue, same_disk
from topology.fault import Found
from topology.model import refuse, skip
from topology.node import Node, Platform
from topology.platforms.base import PlatformKind
from topology.rules.rule import Rule, near
from topology.topology import Topology
from topology.values import Name


class BareMetalSettings(Platform):
    """Nothing to make and nothing to ask: the machines are there."""

    kind: Literal["bare-metal"]
    """Machines that are there already."""


class BareMetalNode(Node):
    """A machine with the disk Talos is installed on."""

    disks: dict[Name, Disk] = Field(default_factory=dict)
    """The machine's disks by a name of one's own, for installDisk and for templates."""
    install_disk: DiskValue = Field(examples=[{"busPath": "/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/"}])
    """The disk Talos is installed on, and erases: the name of one in disks, a path in /dev/disk, or what selects it."""

    @field_validator("install_disk", mode="before")
    @classmethod
    def _named_in_disks(cls, raw: object, info: ValidationInfo) -> object:
        if not isinstance(raw, str) or raw.startswith("/"):
            return raw
        if "disks" not in info.data:
            skip()
        disks = info.data["disks"]
        if raw not in disks:
            refuse("is not one of this node's disks", f"declare it there{near(raw, disks)}, or write what selects it")
        return disks[raw]


def vip_has_an_interface(topology: Topology) -> Iterator[Found]:
    """A control plane must know the name of the interface that carries the VIP: metal names it after its hardware."""
    if topology.network.vip is None:
        return
    for index, node in enumerate(topology.nodes):
        if node.is_controlplane and topology.interface_of(node) is None:
            yield Found(
                ("nodes", index, "interface"),
                node.name,
                f"is to carry the VIP {topology.network.vip} on an interface without a name",
                "name it here or in network.interface, as talosctl get links shows it",
            )


def disks_are_told_apart(topology: Topology) -> Iterator[Found]:
    """Two names of one node's disks must not select one disk."""
    for index, node in enumerate(topology.nodes):
        if isinstance(node, BareMetalNode):
            disks = list(node.disks.items())
            for at, (name, disk) in enumerate(disks):
                for other, earlier in disks[:at]:
                    if same_disk(disk, earlier):
                        yield Found(
                            ("nodes", index, "disks", name),
                            disk.identity,
                            f"is also the disk {other} of {node.name}",
                            "give one disk one name",
                        )


PLATFORM = PlatformKind(
    kind="bare-metal",
    settings=BareMetalSettings,
    node=BareMetalNode,
    rules=(
        Rule(vip_has_an_interface, reads=(("network", "interface"), ("network", "vip"))),
        Rule(disks_are_told_apart),
    ),
)
