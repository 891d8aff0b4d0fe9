"""Bare metal: machines that are there already and wait in maintenance mode under their own addresses."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from topology.disk import Disk, DiskValue
from topology.link import Link
from topology.model import refuse, skip
from topology.node import Node, Platform
from topology.rules.rule import near
from topology.values import Name
from topology.volume import LocalVolume, Volume, VolumeName


class BareMetalNode(Node):
    """A machine with the disk Talos is installed on."""

    link: Link | None = None
    """How it is connected, where it differs from platform.link."""
    disks: dict[Name, Disk] = Field(default_factory=dict)
    """The machine's disks by a name of one's own, for installDisk, for volumes and for templates."""
    install_disk: DiskValue = Field(examples=[{"busPath": "/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0"}])
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
            cure = f"declare it there{near(raw, disks)}, or write what selects it"
            refuse("is not one of this node's disks", cure, also=("disks", raw))
        return disks[raw]


class BareMetalSettings(Platform):
    """Nothing to make and nothing to ask: the machines are there."""

    has_tpm: ClassVar[bool] = True

    kind: Literal["bare-metal"]
    """Machines that are there already."""
    link: Link | None = None
    """How the machines are connected, where that is a bond or a VLAN. A node may differ."""
    volumes: dict[VolumeName, Volume] = Field(default_factory=dict)
    """Local volumes of the workers by name, each mounted at /var/mnt/<name> and given to the kubelet."""

    def link_of(self, node: Node) -> Link | None:
        """The node's own link, or the one of all machines."""
        return (node.link if isinstance(node, BareMetalNode) else None) or self.link

    def volumes_of(self, node: Node) -> Mapping[str, LocalVolume]:
        """The volumes of a worker; a control plane has none."""
        if node.is_controlplane or not isinstance(node, BareMetalNode):
            return {}
        return {name: LocalVolume(volume, node.disks[volume.disk]) for name, volume in self.volumes.items()}
