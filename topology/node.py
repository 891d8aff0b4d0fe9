"""What every node has, and every platform: each platform adds its own in topology/platforms/."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from topology.disk import Disk
from topology.link import Link
from topology.model import Data, Model
from topology.role import ROLES, MachineType, RoleName
from topology.values import Address, Interface, Name
from topology.volume import LocalVolume


class Node(Model):
    """One machine of the cluster."""

    name: Name = Field(examples=["talos-worker-01", "unnamed"])
    """Its host name, and its identity: another name is another machine."""
    role: RoleName = Field(examples=["worker"])
    """What it is for: controlplane or worker."""
    address: Address = Field(examples=["192.168.1.121", "192.0.2.1"])
    """Its own address, the only source for machine and machine configuration."""
    zone: Name | None = None
    """The zone it is in, one of `zones`."""
    image: Name = "default"
    """The image it boots and installs, one of `images`."""
    interface: Interface | None = None
    """Its network interface, where network.interface does not name it."""
    data: Data = Field(default_factory=dict)
    """Values of your own for its templates."""

    @property
    def machine_type(self) -> MachineType:
        """What Talos calls a machine of its role."""
        return ROLES[self.role].machine_type

    @property
    def is_controlplane(self) -> bool:
        """Whether it runs etcd and the Kubernetes API."""
        return self.machine_type == "controlplane"

    # What only some platforms know of a machine; each says it in its own node.

    @property
    def has_tpm(self) -> bool:
        """Whether it may have a TPM, with which disk encryption can seal a key."""
        return False

    @property
    def tpm_setting(self) -> str:
        """What to write at the node so that it has one; nothing where no setting does that."""
        return ""

    @property
    def selected_disk(self) -> Disk | None:
        """The disk that Talos is installed on, where the stack file selects it and not the platform's patch."""
        return None

    @property
    def other_disks(self) -> tuple[Disk, ...]:
        """More disks that the stack file declares."""
        return ()

    @property
    def system_disk_size(self) -> int | None:
        """The size in GiB of the disk that Talos is installed on."""
        return None


class Platform(Model):
    """What a cluster's machines run on. ``kind`` chooses the class."""

    image_platform: ClassVar[str] = "metal"
    """Talos's own name of the platform: it chooses boot image and installer."""
    default_interface: ClassVar[str | None] = None
    """The name of the first network interface, where the platform decides it."""

    kind: str

    def link_of(self, node: Node) -> Link | None:
        """How a node is connected, where more is known of it than the name of one port."""
        return None

    def volumes_of(self, node: Node) -> Mapping[str, LocalVolume]:
        """The local volumes of a node by name."""
        return {}
