"""Values that Talos's merge passes over because they are empty or zero, while an earlier one stays."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from findings import Finding, Place
from machineconfig.checks.configuration import Final
from machineconfig.checks.typed import struct_of, without_deletions
from machineconfig.documents import Entry, parse
from machineconfig.model import Patch
from machineconfig.paths import MAIN, Path, leaves, value_at, written
from machinery import ConfigError
from machinery.contract import PROVIDER
from machinery.decode import Reading, decode
from machinery.merge import matches
from machinery.scalars import KINDS
from machinery.structure import Anything, ListOf, MapOf, Scalar, Struct, Type
from machinery.yaml import Node, ScalarNode, is_null, value_of


@dataclass(frozen=True)
class _Named:
    """An entry of a list, found by what its key says."""

    keys: tuple[str, ...]
    item: dict[str, Any]


_Steps = tuple[str | _Named, ...]

_WORDS = "|".join(sorted({re.escape(kind.zero) for kind in KINDS.values() if isinstance(kind.zero, str) and kind.zero}))
_MAYBE = re.compile(
    r"""^(?P<margin> *)\S.*:[ \t]*(?:\#.*)?$(?!\n(?P=margin)[ -])|:[ \t]*[,}]|"""  # nothing behind a key
    r"""\"\"|''|\[\s*\]|\{\s*\}|!!|[|>][-+0-9]*\s*$|(?<![\w./:])[-+]?0[0xXob_.]*(?![\w./:])|"""
    rf"(?<![\w-])(?i:{_WORDS})(?![\w-])",
    re.MULTILINE,
)
"""What a text has if any value in it is empty or zero; most have nothing of it and need not be read for it."""


def changes_what_it_overrides(final: Final) -> Iterator[Finding]:
    """No empty or zero value is meant to unset one from an earlier patch or Talos: the merge ignores it."""
    order = {patch.source: index for index, patch in enumerate(final.patches)}
    values = {document.title: document.values for document in final.configuration.documents}
    for patch in final.patches:
        for title, entry, steps in _empty(patch.text):
            path = _resolved(values.get(title), steps)
            if path is not None:
                yield from _kept(final, patch, title, entry, path, order)


def _kept(final: Final, patch: Patch, title: str, entry: Entry, path: Path, order: dict[str, int]) -> Iterator[Finding]:
    """The finding where something at a place was there before the patch."""
    for below, value in leaves(value_at(final.origins.documents.get(title, {}), path)):
        origin = final.origins.origin(title, (*path, *below)) if value or value is False else None
        if origin is not None and order.get(origin.file, -1) < order[patch.source]:
            kept = final.place_of((*path, *below), title)
            message = f"{written(title, path)}: {_shown(entry)} does not unset anything, and {kept} stays"
            cure = _cure(kept, path, generated=not origin.file)
            place = Place(patch.file, patch.line(entry.line), path, title, (final.node.name,))
            yield Finding(place, message, cure)
            return


def _cure(kept: str, path: Path, *, generated: bool) -> str:
    """What takes a value away: Talos deletes nothing inside an entry of a list."""
    index = next((at for at, part in enumerate(path) if isinstance(part, int)), None)
    if index is None:
        return "delete it with {$patch: delete}"
    if not generated:
        return f"change it in {kept}"
    return (
        f"leave it out, or delete {written(MAIN, path[:index])} with {{$patch: delete}} and write it in a later patch"
    )


def _shown(entry: Entry) -> str:
    if isinstance(entry.node, ScalarNode):
        return entry.text or ("nothing" if is_null(entry.node) else '""')
    return "an empty list" if entry.node.tag.endswith("seq") else "an empty map"


def _resolved(value: Any, steps: _Steps) -> Path | None:
    """The place in a configuration, where it has a value that is not empty."""
    path: Path = ()
    for step in steps:
        if isinstance(step, _Named):
            items = value if isinstance(value, list) else []
            index = next((at for at, item in enumerate(items) if matches(list(step.keys), item, step.item)), None)
            if index is None:
                return None
            path, value = (*path, index), items[index]
        else:
            path, value = (*path, step), value.get(step) if isinstance(value, dict) else None
    return path if value or value is False else None


@lru_cache(maxsize=8192)
def _empty(text: str) -> tuple[tuple[str, Entry, _Steps], ...]:
    """What a merge passes over in a text, with the title of its document, wherever there was a value before."""
    try:
        documents = parse(text) if _MAYBE.search(text) else ()
    except ConfigError:  # another check says it
        return ()
    found: list[tuple[str, Entry, _Steps]] = []
    for document in documents:
        struct, node = struct_of(document), without_deletions(document.root.node)
        if struct is not None and node is not None:
            root = Entry((), document.root.line, node)
            title = MAIN if document.is_main else document.place
            found += [(title, entry, steps) for entry, steps in _below(struct, root, ())]
    return tuple(found)


def _below(kind: Type, entry: Entry, steps: _Steps) -> Iterator[tuple[Entry, _Steps]]:
    if isinstance(entry.node, ScalarNode) and is_null(entry.node):  # another check says it
        return
    if _is_hollow(entry.node):
        yield entry, steps
    elif isinstance(kind, Struct):
        yield from _in_struct(kind, entry, steps)
    elif isinstance(kind, MapOf):
        yield from _in_map(kind, entry, steps)
    elif isinstance(kind, ListOf) and kind.key and not kind.replaces:
        for child in entry.items:
            item = decode(kind.item, child.node, (), Reading(PROVIDER))
            if isinstance(item, dict):
                yield from _below(kind.item, child, (*steps, _Named(tuple(kind.key.split("|")), item)))
    elif isinstance(kind, Anything):
        yield from _in_anything(entry, steps)


def _in_map(kind: MapOf, entry: Entry, steps: _Steps) -> Iterator[tuple[Entry, _Steps]]:
    for child in entry.keys:
        if not isinstance(kind.item, Scalar):
            yield from _below(kind.item, child, (*steps, _key(child)))
        elif not kind.overrides and _is_empty(child.node):
            yield child, (*steps, _key(child))


def _in_struct(kind: Struct, entry: Entry, steps: _Steps) -> Iterator[tuple[Entry, _Steps]]:
    reading = Reading(PROVIDER)
    read = decode(kind, entry.node, (), reading)
    wrong = {problem.path[0] for problem in (*reading.twice, *reading.wrong, *reading.unknown) if problem.path}
    fields = kind.at(PROVIDER)
    for child in entry.keys:
        field = fields.get(_key(child))
        if field is None or field.name in wrong or field.replaces:
            continue
        if isinstance(field.type, Struct) and _is_hollow(child.node):  # a frame that waits for its contents
            continue
        if not isinstance(field.type, Scalar):
            yield from _below(field.type, child, (*steps, field.name))
        elif (
            field.name not in read
            and not KINDS[field.type.name].always
            and not (_is_nothing(child.node) and child.text)
        ):
            yield child, (*steps, field.name)


def _in_anything(entry: Entry, steps: _Steps) -> Iterator[tuple[Entry, _Steps]]:
    for child in entry.keys:
        if child.keys:
            yield from _in_anything(child, (*steps, _key(child)))
        elif not _is_nothing(child.node) and _is_empty(child.node):
            yield child, (*steps, _key(child))


def _key(entry: Entry) -> str:
    return str(entry.path[-1])


def _is_nothing(node: Node) -> bool:
    return isinstance(node, ScalarNode) and is_null(node)


def _is_hollow(node: Node) -> bool:
    return not isinstance(node, ScalarNode) and not node.value


def _is_empty(node: Node) -> bool:
    """Whether it is zero for Talos; a boolean never is."""
    try:
        value = value_of(node)
    except ConfigError:  # another check says it
        return False
    return not value and not isinstance(value, bool)
