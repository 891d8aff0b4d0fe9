"""Proxmox VE: virtual machines made from the Image Factory's nocloud image, addresses through the cloud-init drive."""

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from topology.model import Model, refuse
from topology.node import Node, Platform
from topology.values import Flag, Https, Interface, Text, Whole, distinct, text

# Below x86-64-v2, which Talos checks at boot and halts without.
_OLD_CPUS = frozenset(
    {"486", "pentium", "pentium2", "pentium3", "coreduo", "core2duo", "Conroe", "Penryn", "athlon", "phenom"}
    | {"Opteron_G1", "Opteron_G2", "Opteron_G3", "kvm32", "kvm64", "qemu32", "qemu64", "x86-64-v1"}
)
_SLOTS = tuple(f"hostpci{number}" for number in range(16))
_MAPPING = r"[A-Za-z][A-Za-z0-9_-]+"


def parse_cpu(raw: object) -> str:
    """Take a CPU type of QEMU's; refuse those that Talos cannot boot on."""
    cpu = text(raw, "a CPU type")
    if cpu in _OLD_CPUS:
        refuse("is a CPU that Talos cannot boot on (it needs x86-64-v2)", "write x86-64-v2-AES or host")
    return cpu


def parse_mapping(raw: object) -> str:
    """Take the name of a PCI resource mapping; refuse a raw PCI address, which an API token may not use."""
    name = text(raw, "the name of a resource mapping")
    if re.fullmatch(r"([0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(\.[0-9a-fA-F])?", name):
        refuse(
            "is a raw PCI address, which Proxmox takes from root's password only, not from an API token",
            "make a resource mapping in Proxmox (Datacenter, Resource Mappings), list it in platform.pciMappings "
            "and write its name as mapping",
        )
    if not re.fullmatch(_MAPPING, name):
        refuse("is not the name of a resource mapping", "write letters, digits, - and _, a letter first, such as gpu0")
    return name


def parse_image_format(raw: object) -> str:
    """Take a disk image format that Proxmox imports as it is."""
    form = text(raw, "an image format")
    if form.endswith(".xz"):
        refuse("is an image that Proxmox cannot unpack", "write qcow2 or raw; the Image Factory has both")
    if form not in ("qcow2", "raw"):
        refuse("is not an image format that Proxmox imports", "write qcow2 or raw")
    return form


def parse_slot(raw: object) -> str:
    """Take the name of a PCI slot of a VM."""
    slot = text(raw, "a PCI slot")
    if slot not in _SLOTS:
        refuse("is not a PCI slot", "write hostpci0 to hostpci15, or leave it out")
    return slot


Cpu = Annotated[str, PlainValidator(parse_cpu), WithJsonSchema({"type": "string", "examples": ["x86-64-v2-AES"]})]
Mapping = Annotated[str, PlainValidator(parse_mapping), WithJsonSchema({"type": "string", "pattern": f"^{_MAPPING}$"})]
ImageFormat = Annotated[
    str, PlainValidator(parse_image_format), WithJsonSchema({"type": "string", "enum": ["qcow2", "raw"]})
]

Slot = Annotated[str, PlainValidator(parse_slot), WithJsonSchema({"type": "string", "enum": list(_SLOTS)})]


class ProxmoxSettings(Platform):
    """One Proxmox VE cluster, reached through its API. The token comes from the stack's encrypted configuration."""

    image_platform: ClassVar[str] = "nocloud"
    default_interface: ClassVar[str | None] = "eth0"

    kind: Literal["proxmox"]
    """Virtual machines of Proxmox VE."""
    endpoint: Https = Field(examples=["https://pve.example.internal:8006"])
    """The API's URL."""
    insecure: Flag = False
    """Whether a certificate of the API that nobody vouches for is taken."""
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


class PciDevice(Model):
    """A device of the host that is passed through, by its resource mapping."""

    mapping: Mapping = Field(examples=["gpu0"])
    """The resource mapping, one of platform.pciMappings."""
    device: Slot | None = None
    """The slot in the VM; the first that is free, from hostpci0, when left out."""
    pcie: Flag = True
    """Whether it is a PCI Express device."""
    rombar: Flag = True
    """Whether its ROM is visible to the VM."""
    xvga: Flag = False
    """Whether it is the VM's primary graphics card."""


def _last_octet(data: dict[str, Any]) -> int:
    return int(data["address"]) & 0xFF


def _with_slots(devices: tuple[PciDevice, ...]) -> tuple[PciDevice, ...]:
    taken = {device.device for device in devices}
    free = (slot for slot in _SLOTS if slot not in taken)
    return tuple(each if each.device else each.model_copy(update={"device": next(free, None)}) for each in devices)


class ProxmoxNode(Node):
    """A virtual machine."""

    cores: Annotated[Whole, Field(ge=1, le=8192)] = Field(examples=[4])
    """Processor cores; Talos needs 2 on a control plane."""
    memory: Annotated[Whole, Field(ge=1024)] = Field(examples=[8192])
    """Memory in MiB, fixed; Talos needs 2048 on a control plane, 1024 on a worker."""
    disk_size: Annotated[Whole, Field(ge=10)] = 32
    """The system disk in GiB; Talos needs 10."""
    vm_id: Annotated[Whole, Field(ge=100, le=999_999_999)] = Field(default_factory=_last_octet)
    """The VM's id, 100 or more; the last octet of its address when left out."""
    host: Text | None = None
    """The Proxmox node it is made on, where it is not platform.host."""
    cpu: Cpu | None = None
    """Its CPU type, where it is not platform.cpu."""
    pci: Annotated[tuple[PciDevice, ...], Field(max_length=16), AfterValidator(_with_slots)] = ()
    """Devices of the host that are passed through."""
