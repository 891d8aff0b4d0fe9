"""The platforms. Each module has the same two classes, ``Platform`` and ``Node``, and one table of its environment."""

from collections.abc import Callable, Mapping

from components.nodes.shape import PlatformModule


def _bare_metal() -> PlatformModule:
    from components.nodes import bare_metal

    return bare_metal


def _proxmox() -> PlatformModule:
    from components.nodes import proxmox

    return proxmox


PLATFORMS: Mapping[str, Callable[[], PlatformModule]] = {
    "bare-metal": _bare_metal,
    "proxmox": _proxmox,
}
"""The only switch between platforms: ``platform.kind`` of the stack file to its module, which is imported when it is
asked for: the SDK of a platform is large, and no other platform needs it."""
