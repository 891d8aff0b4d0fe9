"""Bare metal: a machine that is there already and waits in maintenance mode under its own address."""

from pydantic import Field, ValidationInfo, field_validator

from findings import near
from topology.disk import Disk, DiskValue
from topology.link import Link
from topology.model import refuse, skip
from topology.node import Node
from topology.values import Name


class BareMetalNode(Node):
    """A machine with the disk Talos is installed on."""

    link: Link | None = None
    """How it is connected, where it differs from platform.link."""
    disks: dict[Name, Disk] = Field(default_factory=dict)
    """The machine's disks by a name of one's own, for installDisk, for volumes and for templates."""
    install_disk: DiskValue = Field(examples=[{"busPath": "/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0"}])
    """The disk Talos is installed on, and erases: the name of one in disks, a path in /dev/disk, or what selects it."""

    @property
    def has_tpm(self) -> bool:
        """Nobody asks the machine: most have one."""
        return True

    @property
    def selected_disk(self) -> Disk:
        """The stack file selects it always."""
        return self.install_disk

    @property
    def other_disks(self) -> tuple[Disk, ...]:
        """Those that have a name and no Talos on them."""
        return tuple(disk for disk in self.disks.values() if disk != self.install_disk)

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
