"""What is wanted of a cluster: the stack file's models, its rules and the loader that tells every fault at once.

Nothing here reads a file, the environment or the network, and nothing here knows of Pulumi.
"""

from topology.disk import Disk
from topology.link import Link
from topology.loader import TopologyError, load
from topology.node import Node, Platform
from topology.platforms.bare_metal.node import BareMetalNode
from topology.platforms.proxmox.node import ProxmoxNode
from topology.platforms.proxmox.settings import ProxmoxSettings
from topology.role import ROLES, MachineType, Role
from topology.settings import Image, Waiver
from topology.site import Site
from topology.topology import Topology
from topology.volume import LocalVolume
from versioning import Contract, Version
