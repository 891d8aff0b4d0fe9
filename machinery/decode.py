"""Reading YAML nodes into the values of a configuration, as strictly as Talos reads them.

The values are plain: dicts, lists and scalars, with what is unset or zero left out, except where an empty value means
something else than none at all (see machinery.structure.notation).
"""

from dataclasses import dataclass, field
from typing import Any

from machinery.errors import ConfigError
from machinery.problems import Path, Problem, dotted
from machinery.scalars import KINDS, is_null
from machinery.structure import Anything, ListOf, MapOf, Release, Scalar, Struct, Type
from machinery.yaml import MappingNode, Node, ScalarNode, SequenceNode, duplicate_keys, is_merge, line, value_of

UNSET: Any = None
# Lists as values of extraArgs are read from this release on.
LISTS_IN_ARGS: Release = (1, 13, 6)


@dataclass
class Reading:
    """One reading of a document: the release whose structure counts, and the problems found."""

    release: Release
    wrong: list[Problem] = field(default_factory=list)
    unknown: list[Problem] = field(default_factory=list)

    def is_wrong(self, node: Node, path: Path, message: str) -> Any:
        """Note a value that cannot be read; return UNSET, which stands in its place."""
        self.wrong.append(Problem.at(line(node), message, path))
        return UNSET

    def finish(self) -> None:
        """Raise what was found: values of the wrong type, or, where there are none, unknown keys."""
        if problems := self.wrong or self.unknown:
            raise ConfigError(problems)


def decode(kind: Type, node: Node, path: Path, reading: Reading) -> Any:
    """Return the value of a node without what cannot be read, or UNSET; problems go into `reading`."""
    if isinstance(node, ScalarNode) and is_null(node):
        return UNSET
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
    reading.wrong.extend(duplicate_keys(node, path))
    fields = kind.at(reading.release)
    result: dict[str, Any] = {}
    for key, item in node.value:
        name = key.value if isinstance(key, ScalarNode) else ""
        field = fields.get(name)
        if field is None:
            reading.unknown.append(_unknown(kind, key, name, path, reading))
            continue
        value = decode(field.type, item, (*path, name), reading)
        if value is not UNSET and (field.optional or not _is_zero(field.type, value)):
            result[name] = value
    return _trimmed(kind, result)


def _trimmed(kind: Struct, result: dict[str, Any]) -> dict[str, Any]:
    if kind.name == "InlineManifest" and "contents" in result:
        result["contents"] = result["contents"].lstrip("\t\n\v\f\r")
    return result


def _unknown(kind: Struct, key: Node, name: str, path: Path, reading: Reading) -> Problem:
    other = [field for field in kind.fields if field.name == name]
    place = (*path, name)
    where = dotted(place)
    if other:
        known = (
            f"since Talos {_text(other[0].since)}"
            if reading.release < other[0].since
            else f"until {_text(other[0].until)}"
        )
        return Problem.at(line(key), f"{where} is known {known} only", place)
    return Problem.at(line(key), f"{where} is not a key that Talos knows", place)


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
    except ConfigError as error:
        return _as_said(error, path, reading)


def _as_said(error: ConfigError, path: Path, reading: Reading) -> Any:
    reading.wrong.extend(
        Problem(problem, path=path, line=problem.line, bare=f"{dotted(path)}: {problem.bare}")
        for problem in error.problems
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
    reading.wrong.extend(duplicate_keys(node, path))
    result: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key, item in node.value:
        if not isinstance(key, ScalarNode):
            _wrong(key, path, "text as a key", reading)
        elif is_merge(key) and isinstance(kind.item, Scalar):
            merged = _merged(kind, key, item, path, reading)
        else:
            value = decode(kind.item, item, (*path, key.value), reading)
            if value is UNSET and not kind.item_optional:
                value = KINDS[kind.item.name].zero if isinstance(kind.item, Scalar) else {}
            result[key.value] = value
    return {**merged, **result} if merged else result


def _merged(kind: MapOf, key: Node, item: Node, path: Path, reading: Reading) -> dict[str, Any]:
    """What `<<` brings into a map of text: Talos follows an alias there, and nothing else."""
    if not isinstance(item, MappingNode):
        reading.is_wrong(key, path, f"{dotted(path)}.<< must be an alias of a map")
        return {}
    if item.start_mark.index > key.start_mark.index:
        reading.is_wrong(key, path, f"{dotted(path)}.<< must be an alias such as *name, not a map of its own")
        return {}
    return _map(kind, item, path, reading) or {}


def _anything(node: Node, path: Path, reading: Reading) -> Any:
    if not isinstance(node, MappingNode):
        return _wrong(node, path, "a map", reading)
    try:
        return value_of(node)
    except ConfigError as error:
        return _as_said(error, path, reading)


def _wrong(node: Node, path: Path, wanted: str, reading: Reading) -> Any:
    found = ", not a list" if isinstance(node, SequenceNode) else ", not a map" if isinstance(node, MappingNode) else ""
    return reading.is_wrong(node, path, f"{dotted(path)} must be {wanted}{found}")
