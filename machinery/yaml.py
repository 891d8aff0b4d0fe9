"""YAML as Talos reads it: YAML 1.2 with a few 1.1 numbers, line numbers kept, keys once only.

A node is PyYAML's own (`ScalarNode`, `MappingNode`, `SequenceNode`), read by libyaml where it is there. A plain
scalar has the tag PLAIN: what it means is decided by the field it is for (`1.10` is text where text is wanted), so
nothing is lost on the way. An alias is a copy of the node it stands for; `alias_of` gives its name.
"""

from collections.abc import Callable
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from findings import Path
from machinery.composer import alias_of, compose
from machinery.emit import Verbatim, scalar
from machinery.errors import ConfigError
from machinery.limits import line
from machinery.problems import Problem
from machinery.resolve import PLAIN, STRING, is_null, meaning, plain, text_of
from machinery.values import GeneralMap

__all__ = [
    "PLAIN",
    "STRING",
    "MappingNode",
    "Node",
    "ScalarNode",
    "SequenceNode",
    "alias_of",
    "compose",
    "duplicate_keys",
    "is_merge",
    "is_null",
    "line",
    "load",
    "map_of",
    "plain",
    "text_of",
    "value_of",
]


def _refused(node: Node, message: str) -> ConfigError:
    return ConfigError(Problem(message, line=line(node)))


def duplicate_keys(node: MappingNode, path: Path = ()) -> list[Problem]:
    """Return a problem for every key that appears twice in a mapping, which `path` leads to."""
    seen: dict[tuple[str, str], int] = {}
    problems = []
    for key, _ in node.value:
        alias = alias_of(key)
        name = alias or (key.value if isinstance(key, ScalarNode) else "")
        kind = "alias" if alias else key.id
        if (kind, name) in seen:
            message = f'the key "{name}" already stands at line {seen[kind, name]}'
            problems.append(Problem(message, (*path, name), line(key)))
        else:
            seen[kind, name] = line(key)
    return problems


def is_merge(key: Node) -> bool:
    """Tell whether a key is YAML's `<<`, which brings in what another map says."""
    return isinstance(key, ScalarNode) and key.value == "<<" and key.tag == PLAIN and not alias_of(key)


def value_of(node: Node) -> Any:
    """Return the plain Python value of a node; a map with a key that is no text is a GeneralMap."""
    if isinstance(node, ScalarNode):
        return plain(node)
    if isinstance(node, SequenceNode):
        return [value_of(item) for item in node.value]
    if not isinstance(node, MappingNode):
        raise _refused(node, "a node of an unknown kind")
    tags: set[str] = set()
    result = _pairs(node, lambda key: _key(key, tags))
    return result if tags <= {"str"} else GeneralMap(result)


def map_of(node: MappingNode) -> dict[str, Any]:
    """Return the value of a map whose keys are taken as text, whatever they are; one that is null is left out."""
    return _pairs(node, lambda key: None if is_null(key) else text_of(key))


def _pairs(node: MappingNode, name_of: Callable[[ScalarNode], str | None]) -> dict[str, Any]:
    if problems := duplicate_keys(node):
        raise ConfigError(*problems)
    result: dict[str, Any] = {}
    merged: Node | None = None
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise _refused(key, "a key must be one value")
        if is_merge(key):
            merged = value
        elif (name := name_of(key)) is not None:
            result[name] = value_of(value)
    for part in _merged(merged):
        for inner, value in value_of(part).items():
            result.setdefault(inner, value)
    return result


def _key(node: ScalarNode, tags: set[str]) -> str:
    tag, value = meaning(node)
    tags.add(tag)
    return value if isinstance(value, str) else Verbatim(scalar(value, ""))


def _merged(node: Node | None) -> list[Node]:
    if node is None:
        return []
    parts = node.value if isinstance(node, SequenceNode) and not alias_of(node) else [node]
    for part in parts:
        if not isinstance(part, MappingNode):
            raise _refused(part, "<< needs a map")
    return list(parts)


def load(text: str) -> list[Any]:
    """Return the documents of a text as plain Python values."""
    return [value_of(node) for node in compose(text)]
