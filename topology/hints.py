"""What to do about keys and values that people bring from other tools and that mean something different here."""

import re
from collections.abc import Collection

from findings import Path
from topology.compatibility import SUPPORT
from versioning import read_version

_OWN_ADDRESSES = (
    "take it out: the Talos API is reached at the control planes' own addresses, because a VIP or a load balancer "
    "in front of it is gone when etcd is"
)
_ONE_SOURCE = "take it out: address is the one source of a node's address, for the machine and its configuration"
_ENCRYPTED = "take it out: secrets belong in the stack's encrypted configuration (pulumi config set --secret)"
_MAPPINGS = (
    "write pci: [{ mapping: gpu0 }] with a resource mapping from platform.pciMappings: Proxmox takes raw PCI "
    "addresses from root's password only, not from an API token"
)
_FROM_FACTORY = (
    "take it out: images come from imageFactory by their schematic, in platform.imageFormat, which is never .xz"
)
_PLACES = {
    "talosversion": "write versions.talos",
    "kubernetesversion": "write versions.kubernetes",
    "clustername": "write name",
    "hostname": "write name",
    "agent": "take it out: the guest agent is on where the image has siderolabs/qemu-guest-agent",
    "installdisk": "take it out: the system disk follows from the VM, and bare-metal nodes alone choose one",
    "bios": "take it out: VMs are q35 with OVMF",
    "machine": "take it out: VMs are q35, and machine configuration belongs in patches/",
}
_KEYS: dict[str, str] = {
    **dict.fromkeys(("talosendpoint", "talosendpoints", "talosconfigendpoints"), _OWN_ADDRESSES),
    **dict.fromkeys(("ip", "ipconfig", "ipconfigs", "addresses", "nics", "interfaces"), _ONE_SOURCE),
    **dict.fromkeys(("apitoken", "token", "password", "username", "secret"), _ENCRYPTED),
    **dict.fromkeys(("gpu", "pciid", "hostpci", "hostpcis", "id", "pcidevices"), _MAPPINGS),
    **dict.fromkeys(("imageurl", "imagefile", "iso"), _FROM_FACTORY),
    **_PLACES,
}
_RENAMED = {"rule": "check"}
"""Keys that had another name in earlier releases."""
_VALUES: dict[Path, str] = {
    ("network", "cni"): "write flannel, or none where Cilium or another one is installed afterwards",
}

_UNITS: dict[str, tuple[str, dict[str, int]]] = {
    "memory": ("MiB", {"m": 1, "g": 1024, "t": 1024**2}),
    "diskSize": ("GiB", {"g": 1, "t": 1024}),
    "timeout": ("seconds", {"s": 1, "m": 60, "h": 3600}),
}
"""Whole numbers that have a unit: which, and what others are in it, by their first letter."""


def for_number(key: object, text: str) -> str | None:
    """Return the cure for a number that has its unit behind it: the same one in the key's own unit."""
    match = re.fullmatch(r"([0-9]{1,9})\s*([a-z]+)\.?", text.strip().lower())
    if match is None or key not in _UNITS:
        return None
    unit, factors = _UNITS[str(key)]
    factor = factors.get(match[2][0])
    number = f"write {int(match[1]) * factor}" if factor else "write the number alone"
    return f"{number}: the unit is {unit}, and is not written"


def for_key(key: str) -> str | None:
    """Return the cure for a key that is known from elsewhere."""
    return _KEYS.get(key.lower().replace("_", "").replace("-", ""))


def renamed(key: str, keys: Collection[str]) -> str | None:
    """Return the name that a key has now, where that is one of ``keys``."""
    new = _RENAMED.get(key)
    return new if new in keys else None


def for_value(loc: Path, cure: str) -> str:
    """Return the cure for a value at a place: a better one than the general ``cure`` where there is one."""
    return _VALUES.get(loc, cure)


def for_missing(loc: Path, beside: object, cure: str) -> str:
    """Return the cure for a missing key, from what is beside it: a better one than ``cure`` where there is one."""
    if loc == ("versions", "kubernetes") and isinstance(beside, dict):
        talos = read_version(beside.get("talos"))
        support = SUPPORT.get(talos.contract) if talos else None
        if support:
            return f"Talos {talos} supports Kubernetes {support.kubernetes_from} to {support.kubernetes_to}: give one"
    return cure
