"""Values that Talos's reader takes for something else than what is written."""

import re
from collections.abc import Iterator
from functools import lru_cache

from findings import Finding, written
from machineconfig.checks.subject import Subject
from machineconfig.checks.typed import typed
from machineconfig.deletes import PLACEHOLDERS
from machineconfig.documents import Entry, parse
from machinery.structure import Anything, Scalar, Type
from machinery.timestamps import timestamp
from machinery.yaml import PLAIN, ScalarNode

_OCTAL = re.compile(r"[-+]?0[0-7_]*[1-7][0-7_]*")
_TRAILING = re.compile(r"[-+]?[0-9]+\.[0-9]+0")
_NULLS = frozenset(("~", "null", "Null", "NULL"))
_NUMBERS = frozenset(("int", "uint", "uint8", "uint16", "uint32", "uint64", "ports"))


def means_what_is_written(subject: Subject) -> Iterator[Finding]:
    """Talos reads a number with a leading zero as octal, drops trailing zeros and adds a time to a date; text stays."""
    for part in subject.parts:
        for entry, meant in _read_differently(part.patch.text, part.index):
            message = f"{written(entry.path)}: Talos reads {part.shown(entry)} as {meant}"
            yield subject.finding(part, entry, message, f'write {meant}, or "{part.shown(entry)}" if it is text')


def deletes_by_patch_and_not_by_null(subject: Subject) -> Iterator[Finding]:
    """A null changes nothing: Talos's merge ignores it, where other tools would delete."""
    for part in subject.parts:
        for entry in () if part.patch.text.startswith(PLACEHOLDERS) else _nulls(part.patch.text, part.index):
            message = f"{written(entry.path)}: {entry.text} changes nothing and deletes nothing"
            yield subject.finding(part, entry, message, "write {$patch: delete} to delete it, or leave it out")


@lru_cache(maxsize=8192)
def _read_differently(text: str, index: int) -> tuple[tuple[Entry, str], ...]:
    found = ((entry, _meant(entry, kind)) for entry, kind, _ in typed(parse(text)[index]))
    return tuple((entry, meant) for entry, meant in found if meant)


@lru_cache(maxsize=8192)
def _nulls(text: str, index: int) -> tuple[Entry, ...]:
    values = typed(parse(text)[index])
    return tuple(entry for entry, kind, _ in values if not isinstance(kind, Anything) and _plain(entry) in _NULLS)


def _meant(entry: Entry, kind: Type) -> str:
    text = _plain(entry)
    if isinstance(kind, Scalar) and kind.name not in _NUMBERS:
        return ""
    if not isinstance(kind, Scalar | Anything):
        return ""
    if _OCTAL.fullmatch(text):
        return str(int(text.replace("_", ""), 8))
    if not isinstance(kind, Anything):
        return ""
    stamp = timestamp(text)
    if stamp is not None:
        return "" if stamp == text else stamp
    return str(float(text)) if _TRAILING.fullmatch(text) else ""


def _plain(entry: Entry) -> str:
    """A scalar without quotes and tag; empty for anything else."""
    return str(entry.node.value) if isinstance(entry.node, ScalarNode) and entry.node.tag == PLAIN else ""
