"""Values that Talos's reader takes for something else than what is written."""

import re
from collections.abc import Iterator

from machineconfig.checks.subject import Subject
from machineconfig.checks.typed import typed
from machineconfig.deletes import PLACEHOLDERS
from machineconfig.documents import Entry, dotted
from machineconfig.model import Finding
from machinery.structure import Anything, Scalar, Type
from machinery.yaml import PLAIN, ScalarNode

_OCTAL = re.compile(r"[-+]?0[0-7_]*[1-7][0-7_]*")
_TRAILING = re.compile(r"[-+]?[0-9]+\.[0-9]+0")
_NULLS = frozenset(("~", "null", "Null", "NULL"))
_NUMBERS = frozenset(("int", "uint", "uint8", "uint16", "uint32", "uint64", "ports"))


def means_what_is_written(subject: Subject) -> Iterator[Finding]:
    """A number with a zero in front is octal for Talos, and one with a zero behind loses it, unless text is wanted."""
    for part in subject.parts:
        for entry, kind, _ in typed(part.document):
            meant = _meant(entry, kind)
            if meant:
                message = f"{_where(entry, part.patch.is_secret)}: Talos reads {part.shown(entry)} as {meant}"
                yield subject.finding(part, entry, message, f'write {meant}, or "{part.shown(entry)}" if it is text')


def deletes_by_patch_and_not_by_null(subject: Subject) -> Iterator[Finding]:
    """A null changes nothing: Talos's merge passes it over, where other tools would delete."""
    for part in subject.parts:
        if part.patch.text.startswith(PLACEHOLDERS):
            continue
        for entry, kind, _ in typed(part.document):
            if not isinstance(kind, Anything) and _plain(entry) in _NULLS:
                message = f"{_where(entry, part.patch.is_secret)}: {entry.text} changes nothing and deletes nothing"
                yield subject.finding(part, entry, message, "write {$patch: delete} to delete it, or leave it out")


def _meant(entry: Entry, kind: Type) -> str:
    text = _plain(entry)
    if isinstance(kind, Scalar) and kind.name not in _NUMBERS:
        return ""
    if not isinstance(kind, Scalar | Anything):
        return ""
    if _OCTAL.fullmatch(text):
        return str(int(text.replace("_", ""), 8))
    return str(float(text)) if isinstance(kind, Anything) and _TRAILING.fullmatch(text) else ""


def _plain(entry: Entry) -> str:
    """A scalar without quotes and tag; empty for anything else."""
    return str(entry.node.value) if isinstance(entry.node, ScalarNode) and entry.node.tag == PLAIN else ""


def _where(entry: Entry, hidden: bool) -> str:
    return "a value" if hidden else dotted(entry.path)
