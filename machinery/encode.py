"""Turning the values of a configuration into what is written: Talos's order, zero values where it has them."""

from typing import Any

from machinery.emit import Argument
from machinery.order import in_go_order
from machinery.scalars import KINDS
from machinery.structure import ListOf, MapOf, Release, Scalar, Struct, Type


def encode(kind: Struct, value: dict[str, Any], release: Release) -> dict[str, Any]:
    """Return a document as it is written."""
    result: dict[str, Any] = {}
    for name, field in kind.at(release).items():
        if name not in value:
            if field.written:
                result[name] = None if field.optional else _empty(field.type, release)
        else:
            written = _written(field.type, value[name], release)
            if field.written or field.optional or not _is_empty(written):
                result[name] = written
    return result


def _is_empty(written: Any) -> bool:
    return written in ({}, [], "", 0) and not isinstance(written, bool)


def _empty(kind: Type, release: Release) -> Any:
    if isinstance(kind, Scalar):
        zero = KINDS[kind.name].zero
        written = KINDS[kind.name].written
        return written(zero) if written else zero
    if isinstance(kind, ListOf):
        return []
    return encode(kind, {}, release) if isinstance(kind, Struct) else {}


def _written(kind: Type, value: Any, release: Release) -> Any:
    if value is None:
        return None
    if isinstance(kind, Struct):
        return {} if _says_nothing(kind, value) else encode(kind, value, release)
    if isinstance(kind, Scalar):
        if kind.name == "arg":
            return _argument(value)
        written = KINDS[kind.name].written
        return written(value) if written else value
    if isinstance(kind, ListOf):
        return [_written(kind.item, item, release) for item in value]
    if isinstance(kind, MapOf):
        return {key: _written(kind.item, value[key], release) for key in in_go_order(value)}
    return _sorted(value)


def _argument(value: str | list[str]) -> Any:
    if isinstance(value, list):
        return [Argument(item) for item in value]
    return Argument(value) if value else None


def _says_nothing(kind: Struct, value: dict[str, Any]) -> bool:
    """Tell whether Talos leaves out a structure whatever else is set in it."""
    return kind.name == "EncryptionSpec" and not value.get("provider") and not value.get("keys")


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in in_go_order(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
