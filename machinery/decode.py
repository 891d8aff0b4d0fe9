"""Reading YAML nodes into the values of a configuration, as strictly as Talos reads them.

The values are plain: dicts, lists and scalars, with what is unset or zero left out, except where an empty value means
something else than none at all (see machinery.structure.notation).
"""

from dataclasses import dataclass, field
from typing import Any

from machinery.errors import ConfigError
from machinery.scalars import KINDS, is_null
from machinery.structure import Anything, ListOf, MapOf, Release, Scalar, Struct, Type
from machinery.yaml import MappingNode, Node, ScalarNode, SequenceNode, duplicate_keys, line, value_of

UNSET: Any = None
# Lists as values of extraArgs are read from this release on.
LISTS_IN_ARGS: Release = (1, 13, 6)


@dataclass
class Reading:
    """One reading of a document: the release whose structure counts, and the problems found."""

    release: Release
    wrong: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def finish(self) -> None:
        """Raise what was found: values of the wrong type, or, where there are none, unknown keys."""
        if problems := self.wrong or self.unknown:
            raise ConfigError(problems)


def decode(kind: Type, node: Node, path: str, reading: Reading) -> Any:
    """Return the value of a node, or UNSET; problems go into `reading`."""
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


def _struct(kind: Struct, node: Node, path: str, reading: Reading) -> Any:
    if not isinstance(node, MappingNode):
        return _wrong(node, path, "a map", reading)
    if problems := duplicate_keys(node):
        reading.wrong.extend(problems)
        return UNSET
    fields = kind.at(reading.release)
    result: dict[str, Any] = {}
    for key, item in node.value:
        name = key.value if isinstance(key, ScalarNode) else ""
        field = fields.get(name)
        if field is None:
            reading.unknown.append(_unknown(kind, key, name, path, reading))
            continue
        value = decode(field.type, item, f"{path}.{name}" if path else name, reading)
        if value is not UNSET and (field.optional or not _is_zero(field.type, value)):
            result[name] = value
    return _trimmed(kind, result)


def _trimmed(kind: Struct, result: dict[str, Any]) -> dict[str, Any]:
    if kind.name == "InlineManifest" and "contents" in result:
        result["contents"] = result["contents"].lstrip("\t\n\v\f\r")
    return result


def _unknown(kind: Struct, key: Node, name: str, path: str, reading: Reading) -> str:
    other = [field for field in kind.fields if field.name == name]
    where = f"{path}.{name}" if path else name
    if other:
        known = (
            f"since Talos {_text(other[0].since)}"
            if reading.release < other[0].since
            else f"until {_text(other[0].until)}"
        )
        return f"line {line(key)}: {where} is known {known} only"
    return f"line {line(key)}: {where} is not a key that Talos knows"


def _text(release: Release) -> str:
    return f"{release[0]}.{release[1]}"


def _is_zero(kind: Type, value: Any) -> bool:
    if isinstance(kind, Scalar):
        return bool(value == KINDS[kind.name].zero and type(value) is type(KINDS[kind.name].zero))
    return isinstance(kind, (Struct, Anything)) and not value


def _scalar(kind: Scalar, node: Node, path: str, reading: Reading) -> Any:
    if kind.name == "arg" and isinstance(node, SequenceNode):
        return _arg_list(node, path, reading)
    if not isinstance(node, ScalarNode):
        return _wrong(node, path, "one value", reading)
    try:
        return KINDS[kind.name].read(node)
    except ValueError as error:
        return _wrong(node, path, str(error), reading)
    except ConfigError as error:
        reading.wrong.extend(error.problems)
        return UNSET


def _arg_list(node: SequenceNode, path: str, reading: Reading) -> Any:
    if reading.release < LISTS_IN_ARGS:
        return _wrong(node, path, "text", reading)
    return _list(ListOf(Scalar("string")), node, path, reading)


def _list(kind: ListOf, node: Node, path: str, reading: Reading) -> Any:
    if not isinstance(node, SequenceNode):
        return _wrong(node, path, "a list", reading)
    result = []
    for index, item in enumerate(node.value):
        value = decode(kind.item, item, f"{path}[{index}]", reading)
        if value is not UNSET or kind.item_optional:
            result.append(value)
    return result


def _map(kind: MapOf, node: Node, path: str, reading: Reading) -> Any:
    if not isinstance(node, MappingNode):
        return _wrong(node, path, "a map", reading)
    if problems := duplicate_keys(node):
        reading.wrong.extend(problems)
        return UNSET
    result: dict[str, Any] = {}
    for key, item in node.value:
        if not isinstance(key, ScalarNode):
            _wrong(key, path, "text as a key", reading)
            continue
        value = decode(kind.item, item, f"{path}.{key.value}", reading)
        if value is UNSET and not kind.item_optional:
            value = KINDS[kind.item.name].zero if isinstance(kind.item, Scalar) else {}
        result[key.value] = value
    return result


def _anything(node: Node, path: str, reading: Reading) -> Any:
    if not isinstance(node, MappingNode):
        return _wrong(node, path, "a map", reading)
    try:
        return value_of(node)
    except ConfigError as error:
        reading.wrong.extend(error.problems)
        return UNSET


def _wrong(node: Node, path: str, wanted: str, reading: Reading) -> Any:
    found = ", not a list" if isinstance(node, SequenceNode) else ", not a map" if isinstance(node, MappingNode) else ""
    reading.wrong.append(f"line {line(node)}: {path} must be {wanted}{found}")
    return UNSET
