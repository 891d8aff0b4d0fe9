"""Proxmox VE: virtual machines made from the Image Factory's nocloud image, addresses through the cloud-init drive."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from topology.model import refuse
from topology.node import Node, Platform
from topology.platforms.proxmox.node import Cpu, Mapping, ProxmoxNode
from topology.values import Flag, Https, Interface, Text, Whole, distinct, text, typed


def parse_image_format(raw: object) -> str:
    """Take a disk image format that Proxmox imports as it is."""
    form = text(raw, "an image format")
    if form.endswith(".xz"):
        refuse("is an image that Proxmox cannot unpack", "write qcow2 or raw; the Image Factory has both")
    if form not in ("qcow2", "raw"):
        refuse("is not an image format that Proxmox imports", "write qcow2 or raw")
    return form


ImageFormat = Annotated[str, *typed(parse_image_format, enum=["qcow2", "raw"])]


class ProxmoxSettings(Platform):
    """One Proxmox VE cluster, reached through its API. The token comes from the stack's encrypted configuration."""

    image_platform: ClassVar[str] = "nocloud"
    default_interface: ClassVar[str | None] = "eth0"

    kind: Literal["proxmox"]
    """Virtual machines of Proxmox VE."""
    endpoint: Https = Field(examples=["https://pve.example.internal:8006"])
    """The API's URL."""
    insecure: Flag = False
    """Whether to accept an API certificate that no trusted CA has signed."""
    host: Text = Field(examples=["pve"])
    """The Proxmox node that VMs are made on, where a node names no other."""
    datastore: Text = Field(examples=["local-lvm"])
    """Where the VMs' disks live."""
    image_datastore: Text = "local"
    """Where boot images are downloaded to; it must allow the content type import."""
    shared_datastores: Annotated[tuple[Text, ...], AfterValidator(distinct)] = Field(default=(), examples=[["nfs"]])
    """Which of datastore and imageDatastore all hosts share, such as NFS: one download of an image serves them all."""
    image_format: ImageFormat = "qcow2"
    """The format of the boot images: qcow2 or raw."""
    bridge: Interface = "vmbr0"
    """The bridge the VMs' network interface is on."""
    vlan: Annotated[Whole, Field(ge=1, le=4094)] | None = None
    """The VLAN tag of that interface."""
    pool: Text | None = None
    """The resource pool of the VMs; one with the cluster's name when left out."""
    cpu: Cpu = "x86-64-v2-AES"
    """The CPU type of the VMs, where a node names no other."""
    pci_mappings: Annotated[tuple[Mapping, ...], AfterValidator(distinct)] = ()
    """PCI resource mappings that exist in this Proxmox cluster and that nodes may use."""

    def host_of(self, node: Node) -> str:
        """The Proxmox node a VM is made on."""
        return node.host or self.host if isinstance(node, ProxmoxNode) else self.host

    @property
    def shares_images(self) -> bool:
        """Whether a boot image that one host downloads is there for all."""
        return self.image_datastore in self.shared_datastores

    def image_host_of(self, node: Node) -> str:
        """The Proxmox node that downloads a VM's boot image."""
        return self.host if self.shares_images else self.host_of(node)

    def cpu_of(self, node: Node) -> str:
        """The CPU type of a VM."""
        return node.cpu or self.cpu if isinstance(node, ProxmoxNode) else self.cpu
