"""The values of a patch beside what Talos takes them for."""

from collections.abc import Iterator, Sequence
from copy import copy

from machineconfig.deletes import DELETE, MARK
from machineconfig.documents import Document, Entry
from machinery.structure import DOCUMENTS, V1ALPHA1, Anything, Field, ListOf, MapOf, Scalar, Struct, Type
from machinery.yaml import MappingNode, Node, ScalarNode, SequenceNode


def struct_of(document: Document) -> Struct | None:
    """The structure of a document; None for one that is no mapping or of a kind that nobody knows."""
    if not document.is_mapping:
        return None
    return V1ALPHA1 if document.is_main else DOCUMENTS.get(document.kind)


def typed(document: Document) -> Iterator[tuple[Entry, Type, Field | None]]:
    """Every value of a document that Talos has a type for, with the field that holds it, in the order of the text."""
    struct = struct_of(document)
    if struct is not None:
        yield from _typed(document.root, struct, None)


def _typed(entry: Entry, kind: Type, field: Field | None) -> Iterator[tuple[Entry, Type, Field | None]]:
    yield entry, kind, field
    for child in (*entry.keys, *entry.items):
        below, holder = _below(kind, child, field)
        if below is not None:
            yield from _typed(child, below, holder)


def _below(kind: Type, child: Entry, field: Field | None) -> tuple[Type | None, Field | None]:
    key = child.path[-1]
    if isinstance(kind, Struct):
        found = kind.by_name.get(str(key))
        return (found.type, found) if found else (None, None)
    if isinstance(kind, ListOf) and isinstance(key, int):
        return kind.item, field
    if isinstance(kind, MapOf) and isinstance(key, str) and key != MARK:
        return kind.item, field
    if isinstance(kind, Anything):
        return kind, field
    # A list as the value of an argument.
    return (kind, field) if isinstance(kind, Scalar) and isinstance(key, int) else (None, None)


def without_deletions(node: Node) -> Node | None:
    """A node without what it deletes, the maps and lists that are empty then included; None if nothing is left."""
    if isinstance(node, MappingNode):
        if any(_is_delete(key, value) for key, value in node.value):
            return None
        pairs = [(key, kept) for key, value in node.value if (kept := without_deletions(value)) is not None]
        return _copy(node, pairs)
    if isinstance(node, SequenceNode):
        return _copy(node, [kept for item in node.value if (kept := without_deletions(item)) is not None])
    return node


def _copy(node: Node, children: Sequence[object]) -> Node | None:
    if len(children) == len(node.value) and all(new is old for new, old in zip(children, node.value, strict=True)):
        return node
    if node.value and not children:
        return None
    found = copy(node)
    found.value = list(children)
    return found


def _is_delete(key: Node, value: Node) -> bool:
    return isinstance(key, ScalarNode) and isinstance(value, ScalarNode) and (key.value, value.value) == (MARK, DELETE)
