"""What of a final configuration was said already of a patch, with its file and remedy, and need not be said again."""

from findings import Path
from machineconfig.model import Finding

OWNED, REFUSED = "topology-owned", "talos-refuses"
UNREAD = frozenset(("key-twice", "patch-word", "unknown-key", "wrong-type"))
"""Rules about what is left out of a configuration, so that the rest of it can be checked."""
_OF_ALL_PATCHES = frozenset(("document-and-field", "host-name", "kernel-arguments", "vip", "worker-etcd"))
"""Rules that look at a place in every patch of a node, where Talos looks at what comes of them."""


def is_the_same(finding: Finding, other: Finding) -> bool:
    """Whether what was found in a configuration was said already, or follows from what was."""
    if finding.node != other.node:
        return False
    if other.rule == OWNED and other.path == ("machine", "type"):  # of a machine of another type
        return finding.rule == REFUSED
    if finding.document != other.document:
        return False
    if other.rule in UNREAD:  # something was left out there
        return _is_in(finding, other) or (finding.source == other.source and _is_in(other, finding))
    if not _is_in(finding, other):
        return False
    if other.rule == OWNED or other.rule in _OF_ALL_PATCHES:
        return finding.rule == REFUSED
    if finding.value and other.value:
        return finding.value == other.value
    in_a_list = _names(other.path) != other.path
    return not in_a_list and other.source != "" and (finding.source, finding.line) == (other.source, other.line)


def _is_in(finding: Finding, other: Finding) -> bool:
    """Whether a finding is at the place of another one, or further in. An entry of a list may be any of it."""
    place = _names(other.path)
    return finding.path == other.path if not place else _names(finding.path)[: len(place)] == place


def _names(path: Path) -> Path:
    return tuple(part for part in path if isinstance(part, str))
