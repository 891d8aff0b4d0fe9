"""Bare-metal machines, which are there before anything runs: what a stack file says of their hardware, and no more.

The disks of a machine are those that its node names, the network ports those that its bond is made of.
"""

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

_DISK_KEYS = {
    "name": "name",
    "busPath": "bus_path",
    "serial": "serial",
    "wwid": "wwid",
    "model": "model",
    "type": "type",
}
_DATA_DISK = 4 * 1024**4
"""Bytes of a disk that Talos is not installed on."""


def machine(node: Mapping[str, Any], platform: Mapping[str, Any], talos: str) -> dict[str, Any]:
    """Return a node's machine as the world makes it; ``platform`` is the stack's, ``talos`` the version it boots."""
    name = str(node["name"])
    digest = uuid.uuid5(uuid.NAMESPACE_DNS, name)
    disks, ports = list(_disks(node)), _ports(node, platform)
    return {
        "uuid": str(digest),
        "name": name,
        "address": str(node["address"]),
        "platform": "metal",
        "mac": "02:" + ":".join(digest.hex[index : index + 2] for index in range(0, 10, 2)),
        **({"disks": disks} if disks else {}),
        **({"ports": ports} if ports else {}),
        **({"talos_version": talos} if talos else {}),
    }


def _disks(node: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The disk that Talos is to be installed on, then the others: a machine boots from the first one."""
    named, install = _mapping(node.get("disks")), node.get("installDisk")
    system = _disk(_mapping(named.get(install) if isinstance(install, str) else install))
    if system:
        yield system
    for index, (name, raw) in enumerate(named.items()):
        disk = _disk(_mapping(raw))
        if disk and name != install:
            yield {"name": _kernel_name(disk, index), "size": _DATA_DISK, **disk}


def _disk(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {ours: str(raw[key]).replace("*", "0") for key, ours in _DISK_KEYS.items() if isinstance(raw.get(key), str)}


def _kernel_name(disk: Mapping[str, Any], index: int) -> str:
    if "/nvme" in str(disk.get("bus_path", "")) or disk.get("type") == "nvme":
        return f"/dev/nvme{index}n1"
    return f"/dev/sd{chr(ord('b') + index)}"


def _ports(node: Mapping[str, Any], platform: Mapping[str, Any]) -> list[str]:
    link = _mapping(node.get("link") or platform.get("link"))
    members = _mapping(link.get("bond")).get("members")
    return [str(member) for member in members] if isinstance(members, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
