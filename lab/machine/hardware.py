"""What a simulated machine is made of."""

import hashlib
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

DEFAULT_TALOS = "v1.13.9"


class HardwareError(ValueError):
    """A description of hardware that makes no machine."""


@dataclass(frozen=True)
class Disk:
    """One disk as ``talosctl get disks`` shows it; ``size`` in bytes."""

    name: str = "/dev/sda"
    size: int = 64 * 1024**3
    model: str = "LAB-DISK"
    serial: str = ""
    wwid: str = ""
    bus_path: str = "/pci0000:00/0000:00:05.0/virtio2/host2/target2:0:0/2:0:0:0"
    type: str = "ssd"


@dataclass(frozen=True)
class Hardware:
    """A machine before anything is installed.

    ``boot_media``: whether it can still boot Talos when its disk is empty (ISO, network). A machine whose disk was made
    from an image (``nocloud``) is installed already and, once wiped, has nothing to boot. ``memory`` in MiB. ``ports``:
    the network ports by bus path; without any it has what a configuration asks for.
    """

    uuid: str
    name: str
    address: str
    platform: str = "metal"
    disks: tuple[Disk, ...] = (Disk(),)
    mac: str = ""
    ports: tuple[str, ...] = ()
    talos_version: str = DEFAULT_TALOS
    schematic: str = ""
    memory: int = 4096
    boot_media: bool = True

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> "Hardware":
        """From plain data; refuses unknown keys and missing ones. ``boot_media`` follows the platform."""
        known = {item.name for item in fields(cls)}
        if unknown := sorted(set(raw) - known):
            raise HardwareError(f"hardware does not have {', '.join(unknown)}; it has {', '.join(sorted(known))}")
        if missing := [key for key in ("uuid", "name", "address") if not raw.get(key)]:
            raise HardwareError(f"hardware needs {', '.join(missing)}")
        values = {**raw}
        if values.get("platform", "metal") not in ("metal", "nocloud"):
            raise HardwareError(f"platform {values['platform']!r} is not simulated; there are metal and nocloud")
        try:
            ipaddress.ip_address(str(values["address"]))
        except ValueError as error:
            raise HardwareError(f"hardware address {values['address']!r} is no IP address") from error
        if "disks" in values:
            values["disks"] = tuple(_disk(disk) for disk in values["disks"])
        values["ports"] = tuple(values.get("ports", ()))
        values.setdefault("boot_media", values.get("platform", "metal") == "metal")
        return cls(**values)

    @property
    def preinstalled(self) -> bool:
        """Whether the disk came with Talos on it."""
        return self.platform != "metal"

    @property
    def stable_name(self) -> str:
        """The host name Talos makes up when nobody gives one."""
        digest = hashlib.sha256(self.uuid.encode()).hexdigest()
        return f"talos-{digest[:3]}-{digest[3:6]}"


def _disk(raw: object) -> Disk:
    if isinstance(raw, Disk):
        return raw
    if not isinstance(raw, Mapping):
        raise HardwareError(f"a disk is a mapping, not {type(raw).__name__}")
    known = {item.name for item in fields(Disk)}
    if unknown := sorted(set(raw) - known):
        raise HardwareError(f"a disk does not have {', '.join(unknown)}; it has {', '.join(sorted(known))}")
    return Disk(**raw)
