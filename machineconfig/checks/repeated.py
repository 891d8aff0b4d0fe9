"""What of a final configuration was said already of a patch, with its file and cure, and need not be said again."""

from findings import Finding, Path, Place

OWNED, REFUSED = "topology-owned", "talos-refuses"
UNREAD = frozenset(("key-twice", "patch-word", "unknown-key", "wrong-type"))
"""Checks about what is left out of a configuration, so that the rest of it can be checked."""
_OF_ALL_PATCHES = frozenset(("document-and-field", "host-name", "kernel-arguments", "vip", "worker-etcd"))
"""Checks that look at a place in every patch of a node, where Talos looks at what comes of them."""


SAYS_MORE = (OWNED, "list-doubles")
"""Checks of configurations that say more than others of the same place."""


def is_the_same(finding: Finding, other: Finding) -> bool:
    """Whether what was found in a configuration was said already, or follows from what was."""
    here, there = finding.place, other.place
    if here.nodes != there.nodes or finding.check == other.check:
        return False
    if other.check == OWNED and there.path == ("machine", "type"):  # of a machine of another type
        return finding.check == REFUSED
    if here.document != there.document:
        return False
    if other.check in UNREAD:  # something was left out there
        return _is_in(here, there) or (here.file == there.file and _is_in(there, here))
    if not _is_in(here, there):
        return False
    if other.check == OWNED or other.check in _OF_ALL_PATCHES:
        return finding.check == REFUSED
    if finding.value and other.value:
        return finding.value == other.value
    in_a_list = _names(there.path) != there.path
    return not in_a_list and there.file != "" and (here.file, here.line) == (there.file, there.line)


def _is_in(place: Place, other: Place) -> bool:
    """Whether a place is another one, or further in. An entry of a list may be any of it."""
    names = _names(other.path)
    return place.path == other.path if not names else _names(place.path)[: len(names)] == names


def _names(path: Path) -> Path:
    return tuple(part for part in path if isinstance(part, str))
