"""Which disk an installation takes."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from lab.machine.documents import section
from lab.machine.hardware import Disk

_KEYS = {"busPath": "bus_path", "serial": "serial", "wwid": "wwid", "model": "model", "type": "type"}


def chosen(install: Mapping[str, object], disks: Sequence[Disk]) -> Disk | None:
    """The disk that ``machine.install`` means; None where its selector fits no disk. A path means the first disk.

    A selector's text may be a pattern, as Talos takes it; what is not simulated of it (size, uuid) fits every disk.
    """
    selector = section(install.get("diskSelector"))
    if not disks or not selector:
        return next(iter(disks), None)
    for disk in disks:
        known = {ours: str(selector[key]) for key, ours in _KEYS.items() if selector.get(key)}
        if all(fnmatchcase(str(getattr(disk, key)), pattern) for key, pattern in known.items()):
            return disk
    return None
