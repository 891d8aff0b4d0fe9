"""Proxmox VE: a virtual machine, its processors and the devices that are passed through to it."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from topology.model import Model, refuse
from topology.node import Node
from topology.values import Flag, Text, Whole, matching, text, typed

# Below x86-64-v2, which Talos checks at boot and halts without.
_OLD_CPUS = frozenset(
    {"486", "pentium", "pentium2", "pentium3", "coreduo", "core2duo", "Conroe", "Penryn", "athlon", "phenom"}
    | {"Opteron_G1", "Opteron_G2", "Opteron_G3", "kvm32", "kvm64", "qemu32", "qemu64", "x86-64-v1"}
)
_SLOTS = tuple(f"hostpci{number}" for number in range(16))
_MAPPING = r"[A-Za-z][A-Za-z0-9_-]+"
_MAPPING_NAME = matching(
    _MAPPING, "the name of a resource mapping", "write letters, digits, - and _, a letter first, such as gpu0"
)


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
    return _MAPPING_NAME(raw)


Cpu = Annotated[str, *typed(parse_cpu, "x86-64-v2-AES")]
Mapping = Annotated[str, *typed(parse_mapping, "", _MAPPING)]
Slot = Annotated[
    str,
    *typed(matching("|".join(_SLOTS), "a PCI slot", "write hostpci0 to hostpci15, or leave it out"), enum=list(_SLOTS)),
]


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
    tpm: Flag = False
    """Whether it has a TPM 2.0, with which disk encryption can seal a key. Decide it before the VM is made."""

    @property
    def has_tpm(self) -> bool:
        """Whether one was asked for."""
        return self.tpm

    @property
    def tpm_setting(self) -> str:
        """The platform makes one."""
        return "tpm: true"

    @property
    def system_disk_size(self) -> int:
        """The size that the stack file says."""
        return self.disk_size
