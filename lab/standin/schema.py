"""What the properties of a resource or function are: names, types, required and secret flags, and checks of values.

A :class:`PackageSchema` is read from an installed SDK by :mod:`lab.standin.sdk`. The checks refuse what the SDK does
not declare: an unknown property, a value of another type, a required property left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lab.standin.values import UNKNOWN, Properties, Secret, Value


@dataclass(frozen=True)
class Scalar:
    """A ``string``, ``boolean``, ``integer``, ``number`` or ``any``."""

    name: str


@dataclass(frozen=True)
class ListOf:
    """A list of one type."""

    item: "Type"


@dataclass(frozen=True)
class MapOf:
    """An object with free keys and values of one type."""

    item: "Type"


@dataclass(frozen=True)
class ObjectOf:
    """An object with declared properties."""

    name: str
    properties: Mapping[str, "Property"] = field(hash=False)


Type = Scalar | ListOf | MapOf | ObjectOf


@dataclass(frozen=True)
class Property:
    """One property; ``secret`` is the provider schema's flag."""

    name: str
    type: Type
    required: bool = False
    secret: bool = False


@dataclass(frozen=True)
class ResourceSchema:
    """A resource: ``inputs`` are what a program may set, ``outputs`` what the state holds."""

    token: str
    inputs: Mapping[str, Property] = field(hash=False)
    outputs: Mapping[str, Property] = field(hash=False)


@dataclass(frozen=True)
class FunctionSchema:
    """An invoke: its arguments and what it returns."""

    token: str
    inputs: Mapping[str, Property] = field(hash=False)
    outputs: Mapping[str, Property] = field(hash=False)


@dataclass(frozen=True)
class Failure:
    """What is wrong with one property; ``reason`` holds no value that could be secret."""

    property: str
    reason: str


def check_properties(properties: Mapping[str, Property], given: Mapping[str, Value], path: str = "") -> list[Failure]:
    """Return everything that is wrong with ``given``: unknown names, missing required ones, wrong types."""
    return list(_check_object(properties, given, path))


def _check_object(properties: Mapping[str, Property], given: Mapping[str, Value], path: str) -> Iterator[Failure]:
    for name in given:
        if name not in properties:
            known = ", ".join(sorted(properties)) or "none"
            yield Failure(_join(path, name), f"unknown property {_join(path, name)}; known here: {known}")
    for name, declared in properties.items():
        value = given.get(name)
        if value is not None:
            yield from _check_value(declared.type, value, _join(path, name))
        elif declared.required:
            yield Failure(_join(path, name), f"missing required property {_join(path, name)}")


def _check_value(declared: Type, value: Value, path: str) -> Iterator[Failure]:
    if value is UNKNOWN:
        return
    if isinstance(declared, Scalar):
        if not _fits(declared.name, value):
            yield Failure(path, f"{path} must be of type {declared.name}, not {_kind(value)}")
    elif isinstance(declared, ListOf):
        if not isinstance(value, list):
            yield Failure(path, f"{path} must be a list, not {_kind(value)}")
            return
        for index, item in enumerate(value):
            yield from _check_value(declared.item, item, f"{path}[{index}]")
    elif not isinstance(value, dict):
        yield Failure(path, f"{path} must be an object, not {_kind(value)}")
    elif isinstance(declared, MapOf):
        for key, item in value.items():
            yield from _check_value(declared.item, item, f"{path}.{key}")
    else:
        yield from _check_object(declared.properties, value, path)


def _fits(name: str, value: Value) -> bool:
    if name == "any":
        return True
    if name == "string":
        return isinstance(value, str)
    if name == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    return isinstance(value, int) if name == "integer" else isinstance(value, int | float)


def _kind(value: Value) -> str:
    if value is None:
        return "null"
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "a list", dict: "an object"}
    return names.get(type(value), "unknown")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def mark_secrets(properties: Mapping[str, Property], given: Mapping[str, Value]) -> Properties:
    """Return ``given`` with every known value that the schema calls secret marked, nested ones too."""
    return {name: _mark(properties.get(name), value) for name, value in given.items()}


def _mark(declared: Property | None, value: Value) -> Value:
    if declared is None or value is None or value is UNKNOWN:
        return value
    if declared.secret:
        return Secret(value)
    return _mark_nested(declared.type, value)


def _mark_nested(declared: Type, value: Value) -> Value:
    if isinstance(declared, ObjectOf) and isinstance(value, dict):
        return mark_secrets(declared.properties, value)
    if isinstance(declared, ListOf) and isinstance(value, list):
        return [_mark_nested(declared.item, item) for item in value]
    if isinstance(declared, MapOf) and isinstance(value, dict):
        return {key: _mark_nested(declared.item, item) for key, item in value.items()}
    return value
