"""What is wanted of a cluster: the stack file's models, its rules and the loader that tells every fault at once.

Nothing here reads a file, the environment or the network, and nothing here knows of Pulumi.
"""

from topology.disk import Disk
from topology.endpoint import Endpoint
from topology.fault import Fault, TopologyError
from topology.loader import load
from topology.network import ClusterNetwork
from topology.node import Node, Platform
from topology.platforms.bare_metal import BareMetalNode, BareMetalSettings
from topology.platforms.proxmox.models import PciDevice, ProxmoxNode, ProxmoxSettings
from topology.settings import ApiServer, Image, Kubelet, Oidc, Rollout, Secrets, ServingCertificates, Versions, Zone
from topology.topology import Topology
from topology.versions import Contract, Version

__all__ = [
    "ApiServer",
    "BareMetalNode",
    "BareMetalSettings",
    "ClusterNetwork",
    "Contract",
    "Disk",
    "Endpoint",
    "Fault",
    "Image",
    "Kubelet",
    "Node",
    "Oidc",
    "PciDevice",
    "Platform",
    "ProxmoxNode",
    "ProxmoxSettings",
    "Rollout",
    "Secrets",
    "ServingCertificates",
    "Topology",
    "TopologyError",
    "Version",
    "Versions",
    "Zone",
    "load",
]
