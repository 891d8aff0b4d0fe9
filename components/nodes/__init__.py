"""The platforms. Each module has the same two classes, ``Platform`` and ``Node``, and one table of its environment."""

from collections.abc import Mapping
from types import ModuleType

from components.nodes import bare_metal, proxmox

PLATFORMS: Mapping[str, ModuleType] = {
    "bare-metal": bare_metal,
    "proxmox": proxmox,
}
"""The only switch between platforms: ``platform.kind`` of the stack file to its module."""
