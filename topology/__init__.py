"""What is wanted of a cluster: the stack file's models, its rules and the loader that tells every fault at once.

Nothing here reads a file, the environment or the network, and nothing here knows of Pulumi.
"""

from topology.disk import Disk
from topology.endpoint import Endpoint
from topology.firewall import Firewall
from topology.link import Bond, Link, Vlan
from topology.loader import TopologyError, load
from topology.network import ClusterNetwork
from topology.node import Node, Platform
from topology.platforms.bare_metal.node import BareMetalNode
from topology.platforms.bare_metal.settings import BareMetalSettings
from topology.platforms.proxmox.node import PciDevice, ProxmoxNode
from topology.platforms.proxmox.settings import ProxmoxSettings
from topology.quorum import Loss
from topology.role import ROLES, MachineType, Role
from topology.settings import ApiServer, Image, Kubelet, Oidc, Rollout, Secrets, ServingCertificates, Versions
from topology.site import Proxy, Site
from topology.topology import Topology
from topology.volume import LocalVolume, Volume
from topology.waiver import Waiver
from topology.zone import Zone
from versioning import Contract, Version

__all__ = [
    "ROLES",
    "ApiServer",
    "BareMetalNode",
    "BareMetalSettings",
    "Bond",
    "ClusterNetwork",
    "Contract",
    "Disk",
    "Endpoint",
    "Firewall",
    "Image",
    "Kubelet",
    "Link",
    "LocalVolume",
    "Loss",
    "MachineType",
    "Node",
    "Oidc",
    "PciDevice",
    "Platform",
    "ProxmoxNode",
    "ProxmoxSettings",
    "Proxy",
    "Role",
    "Rollout",
    "Secrets",
    "ServingCertificates",
    "Site",
    "Topology",
    "TopologyError",
    "Version",
    "Versions",
    "Vlan",
    "Volume",
    "Waiver",
    "Zone",
    "load",
]
