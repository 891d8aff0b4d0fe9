"""The border to the lab's world: virtual machines that run are simulated machines."""

import asyncio
import ipaddress
from collections.abc import Mapping
from typing import Any, Protocol

from lab import control
from lab.standin.resource import ProviderError, get
from lab.standin.values import Properties

_BUS = {"scsi": "/dev/sd", "sata": "/dev/sd", "ide": "/dev/sd", "virtio": "/dev/vd"}
_GIB = 1024**3


class Machines(Protocol):
    """What is asked of the world; machines go by their UUID."""

    async def create(self, hardware: Mapping[str, Any]) -> None:
        """Make a machine and begin to boot it."""

    async def delete(self, uuid: str) -> None:
        """Destroy a machine; one that is gone is no error."""

    async def power(self, uuid: str, state: str) -> None:
        """Turn a machine ``on`` or ``off``, or ``cycle`` it."""


class World:
    """The world of the running lab, through its socket."""

    async def create(self, hardware: Mapping[str, Any]) -> None:
        """Make a machine."""
        await _ask(control.create_machine, dict(hardware))

    async def delete(self, uuid: str) -> None:
        """Destroy a machine."""
        await _ask(control.delete_machine, uuid)

    async def power(self, uuid: str, state: str) -> None:
        """Switch a machine."""
        await _ask(control.power, uuid, state)


async def _ask(question: Any, *arguments: Any) -> None:
    try:
        await asyncio.to_thread(question, *arguments)
    except control.ControlError as error:
        raise ProviderError(f"the lab refused: {error}") from error


def hardware(uuid: str, planned: Properties, image: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the machine that a virtual machine with this boot image is; raises ``ProviderError``."""
    return {
        "uuid": uuid,
        "name": planned["name"],
        "address": _address(planned),
        "platform": image["platform"],
        "disks": _disks(planned),
        "mac": planned["macAddresses"][0] if planned["macAddresses"] else "",
        "talos_version": image["version"],
        "schematic": image["schematic"],
        "memory": get(planned, "memory", "dedicated", default=512),
    }


def _address(planned: Properties) -> str:
    """Return the static IPv4 address of the cloud-init drive."""
    given = get(planned, "initialization", "ipConfigs", 0, "ipv4", "address")
    if given in (None, "dhcp"):
        raise ProviderError(
            f"VM {planned['name']}: no DHCP server is simulated; give initialization.ipConfigs[0].ipv4.address a "
            "static address"
        )
    return str(ipaddress.ip_interface(given).ip)


def _disks(planned: Properties) -> list[dict[str, Any]]:
    letters: dict[str, int] = {}
    found = []
    for disk in sorted(get(planned, "disks", default=[]), key=_place):
        prefix = _BUS[disk["interface"].rstrip("0123456789")]
        index = letters[prefix] = letters.get(prefix, -1) + 1
        name = prefix + chr(ord("a") + index)
        size = disk.get("size", 8) * _GIB
        found.append({"name": name, "size": size, "model": "QEMU HARDDISK", "serial": disk.get("serial", "")})
    return found


def _place(disk: Properties) -> tuple[str, int]:
    bus = disk["interface"].rstrip("0123456789")
    return bus, int(disk["interface"][len(bus) :])
