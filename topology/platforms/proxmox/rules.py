"""What must go together on Proxmox VE."""

from collections.abc import Iterator, Mapping, Sequence

from findings import NOTHING, Finding, Path, near
from topology.platforms.proxmox.node import ProxmoxNode
from topology.platforms.proxmox.settings import ProxmoxSettings
from topology.topology import Topology

_CONTROLPLANE_MEMORY = 2048
_CONTROLPLANE_CORES = 2


def _nodes(topology: Topology) -> Iterator[tuple[int, ProxmoxNode]]:
    return ((index, node) for index, node in enumerate(topology.nodes) if isinstance(node, ProxmoxNode))


def architecture_is_amd64(topology: Topology) -> Iterator[Finding]:
    """The q35 machines made here are x86 machines."""
    if topology.architecture != "amd64":
        yield Finding.at(("architecture",), topology.architecture, "is not the architecture of q35 VMs", "write amd64")


def addresses_have_a_gateway(topology: Topology) -> Iterator[Finding]:
    """The cloud-init drive gives each VM its address before Talos runs; without a route it reaches no factory."""
    if any(topology.site_of(node).gateway is None for node in topology.nodes):
        cure = "give the default route of the node network, such as 192.168.1.1"
        yield Finding.at(("network", "gateway"), NOTHING, "is missing, and the VMs get their addresses from here", cure)


def vm_ids(topology: Topology) -> Mapping[str, Sequence[str]]:
    """The VM ids that a stack takes on its Proxmox cluster."""
    settings = topology.platform
    where = settings.endpoint.rstrip("/") if isinstance(settings, ProxmoxSettings) else ""
    return {"nodes.vmId": [f"{node.vm_id} on {where}" for _, node in _nodes(topology)]}


def shared_datastores_are_used(topology: Topology) -> Iterator[Finding]:
    """A datastore that is said to be shared is one that images or disks are on."""
    settings = topology.platform
    if isinstance(settings, ProxmoxSettings):
        used = dict.fromkeys((settings.image_datastore, settings.datastore))
        for index, name in enumerate(settings.shared_datastores):
            if name not in used:
                cure = f"name {' or '.join(used)}, or take it out{near(name, used)}"
                message = "is neither imageDatastore nor datastore"
                yield Finding.at(("platform", "sharedDatastores", index), name, message, cure)


def vm_ids_are_unique(topology: Topology) -> Iterator[Finding]:
    """A VM id belongs to one VM of the Proxmox cluster, and is 100 or more."""
    seen: dict[int, str] = {}
    for index, node in _nodes(topology):
        loc: Path = ("nodes", index, "vmId")
        if node.vm_id < 100:
            message = f"is the end of {node.address}, and Proxmox's VM ids start at 100"
            cure = "give the node a vmId, or an address that ends in 100 or more"
            yield Finding.at(loc, node.vm_id, message, cure, also=(("nodes", index, "address"),))
        elif node.vm_id in seen:
            cure = "give every node a vmId of its own (it is the address's last octet when left out)"
            yield Finding.at(loc, node.vm_id, f"is also the VM id of {seen[node.vm_id]}", cure)
        seen.setdefault(node.vm_id, node.name)


def control_planes_have_what_talos_needs(topology: Topology) -> Iterator[Finding]:
    """etcd and the API server do not fit into less."""
    for index, node in _nodes(topology):
        if node.is_controlplane and node.memory < _CONTROLPLANE_MEMORY:
            cure = f"give {node.name} {_CONTROLPLANE_MEMORY} or more"
            yield Finding.at(("nodes", index, "memory"), node.memory, "MiB is too little for a control plane", cure)
        if node.is_controlplane and node.cores < _CONTROLPLANE_CORES:
            cure = f"give {node.name} {_CONTROLPLANE_CORES} or more"
            yield Finding.at(("nodes", index, "cores"), node.cores, "core is not enough for a control plane", cure)


def mappings_are_declared(topology: Topology) -> Iterator[Finding]:
    """A device is passed through by a mapping the platform declares; a wrong one fails with the VM half made."""
    declared = topology.platform.pci_mappings if isinstance(topology.platform, ProxmoxSettings) else ()
    for index, node in _nodes(topology):
        for at, device in enumerate(node.pci):
            if device.mapping not in declared:
                cure = f"declare it in platform.pciMappings{near(device.mapping, declared)}"
                yield Finding.at(
                    ("nodes", index, "pci", at, "mapping"), device.mapping, "is not a declared mapping", cure
                )


def pci_slots_are_unique(topology: Topology) -> Iterator[Finding]:
    """A slot of a VM takes one device."""
    for index, node in _nodes(topology):
        slots = [device.device for device in node.pci]
        for at, slot in enumerate(slots):
            if slot in slots[:at]:
                cure = "give every device of a node a slot of its own, or leave device out of all"
                message = f"is also the slot of nodes[{index}].pci[{slots.index(slot)}]"
                yield Finding.at(("nodes", index, "pci", at, "device"), slot, message, cure)
