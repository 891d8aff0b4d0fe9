"""Plain values of a configuration: dicts, lists and scalars."""

from typing import Any, TypeVar

from machinery.emit import Verbatim

T = TypeVar("T")


class GeneralMap(dict[str, Any]):
    """A map in which a key is no text; Talos cannot copy one, so nothing may be merged after it."""


def is_uncopyable(value: Any) -> bool:
    """Tell whether there is a date in a value, or a map with a key that is no text."""
    if isinstance(value, dict):
        return isinstance(value, GeneralMap) or any(map(is_uncopyable, value.values()))
    return any(map(is_uncopyable, value)) if isinstance(value, list) else isinstance(value, Verbatim)


def copied(value: T) -> T:
    """Return a copy that shares nothing that can change with the original."""
    if isinstance(value, dict):
        return type(value)((key, copied(item)) for key, item in value.items())
    if isinstance(value, list):
        return [copied(item) for item in value]  # type: ignore[return-value]
    return value
