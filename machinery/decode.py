"""Reading YAML nodes into the values of a configuration, as strictly as Talos reads them.

The values are plain: dicts, lists and scalars, with what is unset or zero left out, except where an empty value means
something else than none at all (see machinery.structure.notation).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from findings import Path, written
from machinery.errors import ConfigError
from machinery.problems import Problem
from machinery.scalars import KINDS
from machinery.structure import Anything, ListOf, MapOf, Release, Scalar, Struct, Type
from machinery.values import is_uncopyable
from machinery.yaml import (
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    alias_of,
    duplicate_keys,
    is_merge,
    is_null,
    line,
    map_of,
    text_of,
)

UNSET: Any = None
# Maps of anything that Talos does not copy before it patches a configuration.
SHARED = frozenset(("baseRuntimeSpecOverrides", "webhook"))
# Lists as values of extraArgs are read from this release on.
LISTS_IN_ARGS: Release = (1, 13, 6)


@dataclass
class Reading:
    """One reading of a document: the release whose structure counts, and the problems found, of each kind.

    `aliased` is how many aliases the reader is in: Talos does not look for unknown keys there. `uncopyable` is whether
    Talos cannot copy a value, so that it can read but not patch the document.
    """

    release: Release
    aliased: int = 0
    uncopyable: bool = False
    twice: list[Problem] = field(default_factory=list)
    wrong: list[Problem] = field(default_factory=list)
    unknown: list[Problem] = field(default_factory=list)

    def is_wrong(self, node: Node, path: Path, message: str) -> Any:
        """Note a value that cannot be read; return UNSET, which stands in its place."""
        self.wrong.append(Problem(message, path, line(node)))
        return UNSET

    def finish(self) -> None:
        """Raise what was found: keys that stand twice and values of the wrong type, or else unknown keys."""
        if problems := [*self.twice, *self.wrong] or self.unknown:
            raise ConfigError(*problems)


def decode(kind: Type, node: Node, path: Path, reading: Reading) -> Any:
    """Return the value of a node without what cannot be read, or UNSET; problems go into `reading`."""
    alias = alias_of(node)
    if alias and isinstance(kind, Scalar) and KINDS[kind.name].as_text:
        return _wrong(node, path, f"written out: *{alias} cannot stand here", reading)
    if isinstance(node, ScalarNode) and is_null(node):
        return UNSET
    reading.aliased += bool(alias)
    try:
        return _decode(kind, node, path, reading)
    except ConfigError as error:  # a value that does not fit its tag
        return _as_said(error, path, reading)
    finally:
        reading.aliased -= bool(alias)


def _decode(kind: Type, node: Node, path: Path, reading: Reading) -> Any:
    if isinstance(kind, Struct):
        return _struct(kind, node, path, reading)
    if isinstance(kind, Scalar):
        return _scalar(kind, node, path, reading)
    if isinstance(kind, ListOf):
        return _list(kind, node, path, reading)
    if isinstance(kind, MapOf):
        return _map(kind, node, path, reading)
    return _anything(node, path, reading)


def _struct(kind: Struct, node: Node, path: Path, reading: Reading) -> Any:
    if not isinstance(node, MappingNode):
        return _wrong(node, path, "a map", reading)
    fields = kind.at(reading.release)
    result: dict[str, Any] = {}
    for key, item in _entries(node, path, reading):
        name = text_of(key)
        field = fields.get(name)
        if key.value not in fields and not reading.aliased:
            reading.unknown.append(_unknown(kind, key, key.value, path, reading))
        elif field is not None:
            value = decode(field.type, item, (*path, name), reading)
            if value is not UNSET and (field.optional or not _is_zero(field.type, value)):
                result.setdefault(name, value)
    return _trimmed(kind, result)


def _entries(node: MappingNode, path: Path, reading: Reading) -> Iterator[tuple[ScalarNode, Node]]:
    """Return the entries of a map; inside an alias also what its `<<` bring in, after its own."""
    reading.twice.extend(duplicate_keys(node, path))
    merged: list[Node] = []
    for key, item in node.value:
        if not isinstance(key, ScalarNode) or (alias_of(key) and not reading.aliased):
            _wrong(key, path, "text as a key", reading)
        elif is_merge(key) and reading.aliased:
            merged.append(item)
        elif not (is_null(key) and reading.aliased):
            yield key, item
    for item in merged:
        for part in item.value if isinstance(item, SequenceNode) and not alias_of(item) else [item]:
            if isinstance(part, MappingNode):
                yield from _entries(part, path, reading)
            else:
                _wrong(part, (*path, "<<"), "a map", reading)


def _trimmed(kind: Struct, result: dict[str, Any]) -> dict[str, Any]:
    if kind.name == "ClusterInlineManifest" and "contents" in result:
        result["contents"] = result["contents"].lstrip("\t\n\v\f\r")
    return result


def _unknown(kind: Struct, key: Node, name: str, path: Path, reading: Reading) -> Problem:
    other = [field for field in kind.fields if field.name == name]
    place = (*path, name)
    where = written(place)
    if other:
        known = (
            f"since Talos {_text(other[0].since)}"
            if reading.release < other[0].since
            else f"until {_text(other[0].until)}"
        )
        return Problem(f"{where} is known {known} only", place, line(key))
    return Problem(f"{where} is not a key that Talos knows", place, line(key))


def _text(release: Release) -> str:
    return f"{release[0]}.{release[1]}"


def _is_zero(kind: Type, value: Any) -> bool:
    if isinstance(kind, Scalar):
        return bool(value == KINDS[kind.name].zero and type(value) is type(KINDS[kind.name].zero))
    return isinstance(kind, (Struct, Anything)) and not value


def _scalar(kind: Scalar, node: Node, path: Path, reading: Reading) -> Any:
    if kind.name == "arg" and isinstance(node, SequenceNode):
        return _arg_list(node, path, reading)
    if not isinstance(node, ScalarNode):
        return _wrong(node, path, "one value", reading)
    try:
        return KINDS[kind.name].read(node)
    except ValueError as error:
        return _wrong(node, path, str(error), reading)


def _as_said(error: ConfigError, path: Path, reading: Reading) -> Any:
    reading.wrong.extend(
        replace(problem, path=path, message=f"{written(path)}: {problem.message}") for problem in error.problems
    )
    return UNSET


def _arg_list(node: SequenceNode, path: Path, reading: Reading) -> Any:
    if reading.release < LISTS_IN_ARGS:
        return _wrong(node, path, "text", reading)
    return _list(ListOf(Scalar("string")), node, path, reading)


def _list(kind: ListOf, node: Node, path: Path, reading: Reading) -> Any:
    if not isinstance(node, SequenceNode):
        return _wrong(node, path, "a list", reading)
    result = []
    for index, item in enumerate(node.value):
        value = decode(kind.item, item, (*path, index), reading)
        if value is not UNSET or kind.item_optional:
            result.append(value)
    return result


def _map(kind: MapOf, node: Node, path: Path, reading: Reading) -> Any:
    if not isinstance(node, MappingNode):
        return _wrong(node, path, "a map", reading)
    result: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key, item in _entries(node, path, reading):
        if is_merge(key):
            merged = _merged(kind, key, item, path, reading)
        elif is_null(key):  # Talos leaves it out, but looks for unknown keys
            if not isinstance(item, ScalarNode):
                decode(kind.item, item, (*path, key.value), reading)
        else:
            name = text_of(key)
            value = decode(kind.item, item, (*path, name), reading)
            if value is UNSET and not kind.item_optional:
                value = KINDS[kind.item.name].zero if isinstance(kind.item, Scalar) else {}
            result.setdefault(name, value)
    return {**merged, **result} if merged else result


def _merged(kind: MapOf, key: Node, item: Node, path: Path, reading: Reading) -> dict[str, Any]:
    """What `<<` brings into a map: Talos follows an alias there, and nothing else."""
    if not isinstance(item, MappingNode):
        reading.is_wrong(key, path, f"{written(path)}.<< must be an alias of a map")
        return {}
    if not alias_of(item):
        reading.is_wrong(key, path, f"{written(path)}.<< must be an alias such as *name, not a map of its own")
        return {}
    return decode(kind, item, path, reading) or {}


def _anything(node: Node, path: Path, reading: Reading) -> Any:
    if not isinstance(node, MappingNode):
        return _wrong(node, path, "a map", reading)
    if not reading.aliased and any(not isinstance(key, ScalarNode) or alias_of(key) for key, _ in node.value):
        return _wrong(node, path, "a map whose keys are text", reading)
    value = map_of(node)
    reading.uncopyable = reading.uncopyable or (path[-1] not in SHARED and is_uncopyable(value))
    return value


def _wrong(node: Node, path: Path, wanted: str, reading: Reading) -> Any:
    found = ", not a list" if isinstance(node, SequenceNode) else ", not a map" if isinstance(node, MappingNode) else ""
    return reading.is_wrong(node, path, f"{written(path)} must be {wanted}{found}")
