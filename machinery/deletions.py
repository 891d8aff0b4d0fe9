"""`$patch: delete`: finding it in a patch, taking it out, and deleting what it names from a configuration."""

from dataclasses import dataclass
from typing import Any

from machinery.documents import V1ALPHA1_KIND, Document, top_value
from machinery.errors import ConfigError
from machinery.problems import Problem
from machinery.structure import ListOf, MapOf, Release, Scalar, Struct, Type
from machinery.yaml import MappingNode, Node, ScalarNode, SequenceNode, alias_of, line

_PEM = frozenset(("PEMEncodedCertificateAndKey", "PEMEncodedCertificate", "PEMEncodedKey"))
_HEADS = frozenset(("version", "kind", "name"))


@dataclass(frozen=True)
class Deletion:
    """One thing to delete: a path in a document, or the whole document; in a list, the item whose `key` is `value`."""

    kind: str
    api_version: str
    name: str
    path: tuple[str, ...]
    key: str = ""
    value: str = ""
    line: int = 0

    @property
    def id(self) -> tuple[str, str]:
        """The document it is for."""
        return self.kind, self.name


def take_deletions(root: Node) -> tuple[list[Deletion], bool]:
    """Return the deletions of a document and whether nothing else is left of it; they are taken out of its nodes."""
    found: list[Deletion] = []
    if not isinstance(root, MappingNode):
        return found, False
    emptied = _walk(root, root, (), False, found)
    return found, emptied or _only_head(root)


def _walk(root: MappingNode, node: Node, path: tuple[str, ...], in_list: bool, found: list[Deletion]) -> bool:
    if alias_of(node):
        return False  # Talos does not look behind an alias
    if isinstance(node, MappingNode):
        if any(_is_mark(key, value) for key, value in node.value):
            found.append(_deletion(root, node, path, in_list))
            return True
        children = [
            (key.value if isinstance(key, ScalarNode) else "", (key, value), value) for key, value in node.value
        ]
    elif isinstance(node, SequenceNode):
        children = [(f"[{index}]", item, item) for index, item in enumerate(node.value)]
    else:
        return False
    before = len(node.value)
    node.value[:] = [
        entry
        for name, entry, value in children
        if not _walk(root, value, (*path, name), isinstance(node, SequenceNode), found)
    ]
    return before > 0 and not node.value


def _is_mark(key: Node, value: Node) -> bool:
    return (
        isinstance(key, ScalarNode)
        and isinstance(value, ScalarNode)
        and (key.value, value.value) == ("$patch", "delete")
    )


def _deletion(root: MappingNode, node: MappingNode, path: tuple[str, ...], in_list: bool) -> Deletion:
    if not in_list and any(part.startswith("[") for part in path):
        raise _refused(node, f"cannot delete a key inside a list item ({'.'.join(path)})")
    kind, version = top_value(root, "kind"), top_value(root, "apiVersion")
    if not path and not (kind and version):
        raise _refused(node, "of a whole document needs its apiVersion and kind")
    if bool(kind) != bool(version):
        raise _refused(node, "needs both apiVersion and kind, or neither")
    key = value = ""
    if in_list:
        other = next((pair for pair in node.value if not _is_mark(*pair)), None)
        if other is None:
            raise _refused(node, "in a list needs a key that says which item")
        key = str(other[0].value)
        value = str(other[1].value) if isinstance(other[1], ScalarNode) else ""
    return Deletion(kind or V1ALPHA1_KIND, version, top_value(root, "name"), path, key, value, line(node))


def _refused(node: Node, message: str) -> ConfigError:
    return ConfigError(Problem(f"$patch: delete {message}", line=line(node)))


def _only_head(node: MappingNode) -> bool:
    return all(
        isinstance(key, ScalarNode) and isinstance(value, ScalarNode) and key.value in _HEADS
        for key, value in node.value
    )


def delete(deletion: Deletion, document: Document, release: Release) -> bool:
    """Delete from a document; return True where the whole document goes; raise ConfigError where nothing is found."""
    if not deletion.path:
        return True
    kind: Type = document.struct
    value: Any = document.values
    for index, part in enumerate(deletion.path):
        last = index == len(deletion.path) - 1
        kind, value = _step(deletion, kind, value, part, last, release)
        if last:
            break
    return False


def _step(deletion: Deletion, kind: Type, value: Any, part: str, last: bool, release: Release) -> tuple[Type, Any]:
    if isinstance(kind, ListOf):
        _delete_item(deletion, kind, value)
        return kind, value
    if isinstance(kind, Struct):
        # Talos's certificates and keys have no names that a deletion could find.
        field = None if kind.name in _PEM else kind.at(release).get(part)
        if field is None or not isinstance(value, dict):
            raise _nothing(deletion)
        if last:
            value.pop(part, None)
            return field.type, None
        if part not in value and field.optional:
            raise _nothing(deletion)
        return field.type, value.get(part, {})
    if isinstance(value, dict) and part in value:
        if last:
            del value[part]
            return kind, None
        return kind.item if isinstance(kind, MapOf) else kind, value[part]
    raise _nothing(deletion)


def _delete_item(deletion: Deletion, kind: ListOf, items: Any) -> None:
    field = (
        next((f for f in kind.item.fields if f.name == deletion.key), None) if isinstance(kind.item, Struct) else None
    )
    if field is not None and isinstance(field.type, Scalar) and field.type.name == "string":
        for item in items or ():
            if item is not None and item.get(deletion.key, "") == deletion.value:
                items.remove(item)
                return
    raise _nothing(deletion)


def _nothing(deletion: Deletion) -> ConfigError:
    item = f" with {deletion.key} {deletion.value}" if deletion.key else ""
    message = f"$patch: delete finds no {'.'.join(deletion.path)}{item} in {deletion.kind}"
    return ConfigError(Problem(message, line=deletion.line))
