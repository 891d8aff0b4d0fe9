"""Plain values of a configuration: dicts, lists and scalars."""

from typing import TypeVar

T = TypeVar("T")


def copied(value: T) -> T:
    """Return a copy that shares nothing that can change with the original."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}  # type: ignore[return-value]
    if isinstance(value, list):
        return [copied(item) for item in value]  # type: ignore[return-value]
    return value
