"""Which datastores the hosts of the pretended Proxmox VE share, and which each host has for itself.

As bare metal has the disks that the stack file lists, Proxmox VE has the shares that it names. A name that says of what
type a datastore is says more than that.
"""

import os
import re
from pathlib import Path

from lab.stackfile import StackError, read

_OF_EVERY_HOST = frozenset({"local", "local-lvm", "local-zfs"})
"""What the installer of Proxmox VE makes on each host."""
_NETWORK = frozenset({"nfs", "cifs", "smb", "ceph", "cephfs", "rbd", "iscsi", "glusterfs"})
"""Types of storage that hosts reach over the network."""


def holder(node: str, datastore: str) -> str:
    """Return who has what lies in a datastore: the host, or all of them."""
    return "all hosts" if is_shared(datastore) else node


def is_shared(datastore: str) -> bool:
    """Tell whether all hosts see the same files in a datastore."""
    if datastore in _OF_EVERY_HOST:
        return False
    return bool(_NETWORK & set(re.split(r"[^a-z]+", datastore.lower()))) or datastore in _named()


def _named() -> frozenset[str]:
    """Return what the stack of this lab calls shared."""
    home, stack = os.environ.get("LAB_HOME"), os.environ.get("LAB_STACK")
    if not home or not stack:
        return frozenset()
    try:
        platform = read(stack, Path(home) / stack / "project").cluster.get("platform")
    except StackError:
        return frozenset()
    named = platform.get("sharedDatastores") if isinstance(platform, dict) else None
    return frozenset(map(str, named)) if isinstance(named, list) else frozenset()
