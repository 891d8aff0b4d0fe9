"""What Proxmox VE knows of a virtual machine: numbers, addresses, and what it refers to."""

import hashlib
import uuid
from collections import Counter
from typing import Any

from lab.standin.proxmoxve import storage
from lab.standin.proxmoxve.store import State
from lab.standin.resource import ProviderError, get
from lab.standin.values import UNKNOWN, Properties

_AGENT = "siderolabs/qemu-guest-agent"
#: What is known of the network inside a machine without a guest agent.
UNSEEN: Properties = {"ipv4Addresses": [], "ipv6Addresses": [], "networkInterfaceNames": []}


def number(planned: Properties, state: State) -> int:
    """Return the number that is asked for, or the next free one; raises for one that is taken."""
    given = planned["vmId"]
    if given is UNKNOWN or given == -1:
        return next(number for number in range(100, 1_000_000) if str(number) not in state["vms"])
    if str(given) in state["vms"]:
        owner = state["vms"][str(given)]
        message = f"unable to create VM {given} - VM {given} already exists on node '{owner['node']}'"
        raise ProviderError(f"received an HTTP 500 response - Reason: {message} (it is {owner['name']})")
    return int(given)


def refuse_missing(made: Properties, number: int, state: State) -> None:
    """Raise for a pool that does not exist or a PCI device that another machine has."""
    pool = made.get("poolId")
    if pool and pool not in state["pools"]:
        raise ProviderError(f"received an HTTP 500 response - Reason: pool '{pool}' does not exist")
    node = made["nodeName"]
    others = [facts for other, facts in state["vms"].items() if other != str(number) and facts["node"] == node]
    wanted = Counter(device.get("mapping") for device in get(made, "hostpcis", default=[]))
    for name in filter(None, wanted):
        taken = sum(facts["mappings"].count(name) for facts in others)
        if name not in state["pci"]:  # made by hand: how many devices it has is not known, so one machine has all
            free = 0 if taken else wanted[name]
        else:
            free = state["pci"][name]["devices"].get(node, 0) - taken
        if free < wanted[name]:
            users = " or ".join(facts["name"] for facts in others if name in facts["mappings"])
            reason = f"{users} uses it" if users else "it has too few there"
            raise ProviderError(f"PCI mapping '{name}' has no free device on {node} for VM {made['name']}: {reason}")


def boot_image(made: Properties, state: State) -> dict[str, Any] | None:
    """Return what is known of the Talos image the machine boots; raises for a file that nothing downloaded."""
    found = None
    sources = [(disk.get("importFrom") or disk.get("fileId"), "disks") for disk in get(made, "disks", default=[])]
    sources.append((get(made, "cdrom", "fileId"), "cdrom"))
    for source, where in sources:
        if not source or source in ("none", "cdrom"):
            continue
        holder = storage.holder(made["nodeName"], source.partition(":")[0])
        known = state["files"].get(f"{holder}/{source}")
        if known is None:
            raise ProviderError(f"{where}: volume '{source}' does not exist on node {made['nodeName']}")
        if where == "disks" and ":iso/" in source:
            raise ProviderError(f"{where}: '{source}' cannot be imported: its content type is iso, not import")
        found = found or (known if "schematic" in known else None)
    return found


def facts(planned: Properties) -> Properties:
    """Fill in what Proxmox VE and the guest agent tell of a machine."""
    name = planned["name"] if planned["name"] is not UNKNOWN else f"VM {planned['vmId']}"
    devices = get(planned, "networkDevices", default=[])
    digest = hashlib.sha256(f"{planned['nodeName']}/{planned['vmId']}".encode()).hexdigest()
    # bc:24:11 is the prefix of Proxmox Server Solutions, from which Proxmox VE takes its addresses.
    made = [f"BC:24:11:{digest[n : n + 2]}:{digest[n + 2 : n + 4]}:{digest[n + 4 : n + 6]}".upper() for n in range(32)]
    macs = [device.get("macAddress") or made[index] for index, device in enumerate(devices)]
    address = get(planned, "initialization", "ipConfigs", 0, "ipv4", "address", default="")
    agent = get(planned, "agent", "enabled") is True and planned["started"] is True
    seen = [["127.0.0.1"], [str(address).partition("/")[0]]] if agent else []
    return {
        **planned,
        "name": name,
        "macAddresses": macs,
        "ipv4Addresses": seen,
        "ipv6Addresses": [["::1"], []] if agent else [],
        "networkInterfaceNames": ["lo", "eth0"] if agent else [],
    }


def waits_in_vain(made: Properties, image: dict[str, Any]) -> bool:
    """Tell whether the provider would wait for a guest agent that the image does not hold."""
    extensions = image.get("extensions")
    return get(made, "agent", "enabled") is True and extensions is not None and _AGENT not in extensions


def machine_uuid(made: Properties) -> str:
    """Return the SMBIOS UUID, the same for the same number on the same host."""
    given = get(made, "smbios", "uuid")
    return str(given or uuid.uuid5(uuid.NAMESPACE_DNS, f"{made['vmId']}.{made['nodeName']}.proxmox.lab"))


def record(made: Properties) -> dict[str, Any]:
    """Return what the pretended Proxmox VE remembers of a machine."""
    mappings = [device["mapping"] for device in get(made, "hostpcis", default=[]) if device.get("mapping")]
    running = made["started"] is True and made["template"] is not True
    facts = {"node": made["nodeName"], "name": made["name"], "pool": made.get("poolId"), "mappings": mappings}
    return {**facts, "running": running, "machine": False, "uuid": machine_uuid(made)}
