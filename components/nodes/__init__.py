"""The platforms. Each module has the same two classes, ``Platform`` and ``Node``, and one table of its environment."""

from collections.abc import Mapping

from components.nodes import bare_metal, proxmox
from components.nodes.shape import PlatformModule

PLATFORMS: Mapping[str, PlatformModule] = {
    "bare-metal": bare_metal,
    "proxmox": proxmox,
}
"""The only switch between platforms: ``platform.kind`` of the stack file to its module."""
