"""The platforms a cluster can run on. A new one is a module here and a line in this table."""

from topology.platforms import bare_metal, proxmox
from topology.platforms.base import PlatformKind

PLATFORMS: dict[str, PlatformKind] = {
    platform.kind: platform
    for platform in (
        bare_metal.PLATFORM,
        proxmox.PLATFORM,
    )
}
