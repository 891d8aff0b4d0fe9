"""What the provider and Proxmox VE refuse about a virtual machine, and what would leave Talos unable to boot on it.

The allowed values are those of the provider's validators. Everything is said at once, each with its property.
"""

import ipaddress
import re
from collections.abc import Iterator

from lab.standin.resource import get
from lab.standin.schema import Failure
from lab.standin.values import UNKNOWN, Properties, Value

_CPU_NAMES = """
486 Broadwell Broadwell-IBRS Broadwell-noTSX Broadwell-noTSX-IBRS Cascadelake-Server Cascadelake-Server-noTSX
Cascadelake-Server-v2 Cascadelake-Server-v4 Cascadelake-Server-v5 Conroe Cooperlake Cooperlake-v2 EPYC EPYC-Genoa
EPYC-IBPB EPYC-Milan EPYC-Rome EPYC-Rome-v2 EPYC-Rome-v3 EPYC-Rome-v4 EPYC-v3 EPYC-v4 Haswell Haswell-IBRS
Haswell-noTSX Haswell-noTSX-IBRS Icelake-Client Icelake-Client-noTSX Icelake-Server Icelake-Server-noTSX
Icelake-Server-v3 Icelake-Server-v4 Icelake-Server-v5 Icelake-Server-v6 IvyBridge IvyBridge-IBRS KnightsMill
Nehalem Nehalem-IBRS Opteron_G1 Opteron_G2 Opteron_G3 Opteron_G4 Opteron_G5 Penryn SandyBridge SandyBridge-IBRS
SapphireRapids Skylake-Client Skylake-Client-IBRS Skylake-Client-noTSX-IBRS Skylake-Client-v4 Skylake-Server
Skylake-Server-IBRS Skylake-Server-noTSX-IBRS Skylake-Server-v4 Skylake-Server-v5 Westmere Westmere-IBRS athlon
core2duo coreduo host kvm32 kvm64 max pentium pentium2 pentium3 phenom qemu32 qemu64 x86-64-v2 x86-64-v2-AES
x86-64-v3 x86-64-v4
"""
_CPU_TYPES = frozenset(_CPU_NAMES.split())
_ONE_OF = {
    ("bios",): {"ovmf", "seabios"},
    ("scsiHardware",): {"lsi", "lsi53c810", "virtio-scsi-pci", "virtio-scsi-single", "megasas", "pvscsi"},
    ("efiDisk", "type"): {"2m", "4m"},
    ("tpmState", "version"): {"v1.2", "v2.0"},
    ("agent", "type"): {"isa", "virtio"},
    ("operatingSystem", "type"): {"l24", "l26", "other", "solaris", "w2k", "w2k3", "w2k8", "win7", "win8"}
    | {"win10", "win11", "wvista", "wxp"},
}
_BETWEEN = {
    ("vmId",): (100, 2147483647),
    ("cpu", "cores"): (1, 2304),
    ("cpu", "sockets"): (1, 16),
    ("cpu", "units"): (1, 262144),
    ("memory", "dedicated"): (64, 268435456),
    ("memory", "floating"): (0, 268435456),
    ("memory", "shared"): (0, 268435456),
}
_MATCH = {
    ("machine",): re.compile(
        r"|pc|(pc(-i440fx)?|pc-q35)-\d+(\.\d+)+(\+pve\d+)?(\.pxe)?|q35(,viommu=(intel|virtio))?|virt(-\d+(\.\d+)+)?"
    ),
    ("name",): re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9-]+)*"),
}
_EACH_MATCH = {
    ("disks", "interface"): re.compile(r"(ide[0-3]|sata[0-5]|scsi([12]?[0-9]|30)|virtio(1[0-5]|[0-9]))"),
    ("disks", "serial"): re.compile(r".{0,20}"),
    ("disks", "importFrom"): re.compile(r"[A-Za-z0-9_.-]+:([A-Za-z0-9_-]+/)?.+"),
    ("disks", "fileId"): re.compile(r"[A-Za-z0-9_.-]+:([A-Za-z0-9_-]+/)?.+"),
    ("disks", "cache"): re.compile(r"none|writethrough|writeback|unsafe|directsync"),
    ("disks", "aio"): re.compile(r"io_uring|native|threads"),
    ("disks", "discard"): re.compile(r"ignore|on"),
    ("disks", "fileFormat"): re.compile(r"qcow2|raw|vmdk"),
    ("networkDevices", "model"): re.compile(r"e1000|e1000e|rtl8139|virtio|vmxnet3"),
    ("networkDevices", "macAddress"): re.compile(r"([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}"),
    ("hostpcis", "device"): re.compile(r"hostpci(1[0-5]|[0-9])"),
}
_UNIQUE = {("disks", "interface"), ("hostpcis", "device")}


def check(inputs: Properties) -> list[Failure]:
    """Return everything that is wrong with a virtual machine's inputs."""
    return [*_values(inputs), *_lists(inputs), *_firmware(inputs), *_pci(inputs), *_addresses(inputs)]


def _values(inputs: Properties) -> Iterator[Failure]:
    for path, allowed in _ONE_OF.items():
        value = get(inputs, *path)
        if value not in (None, UNKNOWN) and value not in allowed:
            yield _failure(path, f"must be one of {', '.join(sorted(allowed))}, not {value}")
    for path, (low, high) in _BETWEEN.items():
        value = get(inputs, *path)
        if value not in (None, UNKNOWN) and not low <= value <= high:
            yield _failure(path, f"must be in the range ({low} - {high}), got {value}")
    for path, pattern in _MATCH.items():
        value = get(inputs, *path)
        if value not in (None, UNKNOWN) and not pattern.fullmatch(value):
            yield _failure(path, f"is not valid: {value}")
    cpu = get(inputs, "cpu", "type")
    if cpu not in (None, UNKNOWN) and cpu not in _CPU_TYPES and not re.fullmatch("custom-.+", cpu):
        yield _failure(("cpu", "type"), f"{cpu} is not a CPU type that Proxmox VE knows")


def _lists(inputs: Properties) -> Iterator[Failure]:
    for (name, key), pattern in _EACH_MATCH.items():
        seen: set[Value] = set()
        for index, value in _each(inputs, name, key):
            if not pattern.fullmatch(value):
                yield Failure(f"{name}[{index}].{key}", f"{name}[{index}].{key} is not valid: {value}")
            if (name, key) in _UNIQUE and value in seen:
                yield Failure(f"{name}[{index}].{key}", f"{name}[{index}].{key}: {value} is used twice")
            seen.add(value)
    for index, size in _each(inputs, "disks", "size"):
        if size < 1:
            yield Failure(f"disks[{index}].size", f"disks[{index}].size must be at least 1 (GiB), got {size}")


def _firmware(inputs: Properties) -> Iterator[Failure]:
    if inputs.get("bios") == "ovmf" and "efiDisk" not in inputs:
        yield Failure("efiDisk", "bios ovmf without an efiDisk: UEFI variables would not survive a power cycle")
    if "efiDisk" in inputs and inputs.get("bios", "seabios") == "seabios":
        yield Failure("efiDisk", "an efiDisk needs bios ovmf")


def _pci(inputs: Properties) -> Iterator[Failure]:
    q35 = inputs.get("machine") is UNKNOWN or str(inputs.get("machine", "")).startswith(("q35", "pc-q35"))
    for index, device in enumerate(_items(inputs, "hostpcis")):
        path = f"hostpcis[{index}]"
        if ("id" in device) == ("mapping" in device):
            yield Failure(path, f"{path} needs either a mapping or an id")
        if device.get("pcie") is True and not q35:
            yield Failure(f"{path}.pcie", f"{path}.pcie: q35 machine model is not enabled")


def _addresses(inputs: Properties) -> Iterator[Failure]:
    for index, config in enumerate(_items(get(inputs, "initialization", default={}), "ipConfigs")):
        for family in ("ipv4", "ipv6"):
            path = f"initialization.ipConfigs[{index}].{family}"
            address, gateway = get(config, family, "address"), get(config, family, "gateway")
            if address not in (None, UNKNOWN, "dhcp", "auto") and not _is_interface(address):
                yield Failure(f"{path}.address", f"{path}.address must be an address with its prefix, not {address}")
            if gateway is not None and address in (None, "dhcp", "auto"):
                yield Failure(f"{path}.gateway", f"{path}.gateway needs a static address beside it")


def _is_interface(text: str) -> bool:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return "/" in text


def _items(inputs: Properties, name: str) -> list[Properties]:
    items = inputs.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _each(inputs: Properties, name: str, key: str) -> Iterator[tuple[int, Value]]:
    for index, item in enumerate(_items(inputs, name)):
        value = item.get(key)
        if value not in (None, UNKNOWN):
            yield index, value


def _failure(path: tuple[str, ...], reason: str) -> Failure:
    name = ".".join(path)
    return Failure(name, f"{name} {reason}")
