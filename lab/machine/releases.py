"""What differs from one release of Talos to the next, by minor version."""

LIFECYCLE_SERVICE = 13
"""First minor version with LifecycleService and ImageService."""
PRESERVE = 12
"""First minor version that asks nothing of etcd before an upgrade that preserves the machine's data."""
APPLY_ONCE = 12
"""First minor version that takes no further configuration once one was applied that makes it reboot."""
NEVER_REBOOTS = 14
"""First minor version that never reboots for a configuration."""
VOLUMES = 14
"""First minor version that wipes etcd's directory and those like it by their own labels."""
EXIT_CODES = 14
"""First minor version whose installer says with its exit code what went wrong."""
_BEHIND, _AHEAD = (
    2,
    2,
)  # minor versions that an installer takes over from: so many before its own, fewer than that after


def minor(version: str) -> int:
    """The minor version in ``v1.13.9``, 0 where there is none."""
    parts = version.lstrip("v").split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 0


def may_follow(host: str, target: str) -> bool:
    """Whether the installer of ``target`` takes over a machine that runs ``host``; only minor versions count."""
    return minor(target) - _BEHIND <= minor(host) < minor(target) + _AHEAD
