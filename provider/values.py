"""Between the SDK's property values and plain Python."""

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi.provider.experimental.property_value import Computed, PropertyValue

from provider.release import UNKNOWN

Properties = Mapping[str, PropertyValue]


def plain(properties: Properties) -> dict[str, Any]:
    """Return the values alone, whole numbers as int."""
    return {name: _plain(value) for name, value in properties.items()}


def _plain(value: PropertyValue) -> Any:
    match value.value:
        case Computed():
            return UNKNOWN
        case str(text):
            return text
        case bool(flag):
            return flag
        case float(number):
            return int(number) if number.is_integer() else number
        case Mapping() as entries:
            return {name: _plain(entry) for name, entry in entries.items()}
        case Sequence() as entries:
            return [_plain(entry) for entry in entries]
        case other:
            return other
