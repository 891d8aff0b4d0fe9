"""Property values as they travel between the engine and a plugin, and as plain Python values.

The engine sends protobuf structs in which secrets, unknown values and references are marked by signatures. In here a
value is a plain ``str``, ``bool``, ``int``, ``float``, ``None``, ``list`` or ``dict``, or ``UNKNOWN``. Marks of
secrecy are dropped on the way in: these plugins answer ``acceptSecrets: false`` as the bridged ones do, so the engine
keeps the marks of inputs itself, and the schema says which outputs are secret on the way out.
"""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.struct_pb2 import ListValue, Struct
from google.protobuf.struct_pb2 import Value as Wire

Value = Any
Properties = dict[str, Value]

_UNKNOWN_ON_WIRE: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a mark of the wire format, no password
_OUTPUT: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


class Unknown:
    """The value of something that does not exist yet: a preview's placeholder."""

    def __repr__(self) -> str:
        """Show what it is, for failing tests."""
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


class Secret:
    """A value on its way out that the engine must encrypt."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        """Mark ``value``."""
        self.value = value

    def __repr__(self) -> str:
        """Never show the value."""
        return "Secret(...)"


def decode(struct: Struct) -> Properties:
    """Turn a protobuf struct into plain values; marks of secrecy are dropped, whole numbers are ``int``."""
    return {key: _decode(value) for key, value in struct.fields.items()}


def _decode(value: Wire) -> Value:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        text = value.string_value
        return UNKNOWN if text == _UNKNOWN_ON_WIRE else text
    if kind == "struct_value":
        return _decode_object(value.struct_value)
    if kind == "list_value":
        return [_decode(item) for item in value.list_value.values]
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    return None


def _decode_object(struct: Struct) -> Value:
    fields = struct.fields
    if _SIGNATURE not in fields:
        return {key: _decode(item) for key, item in fields.items()}
    signature = fields[_SIGNATURE].string_value
    if signature == _SECRET:
        return _decode(fields["value"])
    if signature == _OUTPUT:
        return _decode(fields["value"]) if "value" in fields else UNKNOWN
    raise ValueError("assets, archives and resource references are not among the inputs of these resources")


def encode(properties: Mapping[str, Value]) -> Struct:
    """Turn plain values into a protobuf struct; ``UNKNOWN`` and ``Secret`` become the engine's marks."""
    struct = Struct()
    _fill(struct, properties)
    return struct


def _fill(struct: Struct, properties: Mapping[str, Value]) -> None:
    for key, value in properties.items():
        _encode(struct.fields[key], value)


def _encode(wire: Wire, value: Value) -> None:
    if value is UNKNOWN:
        wire.string_value = _UNKNOWN_ON_WIRE
    elif isinstance(value, Secret):
        wire.struct_value.fields[_SIGNATURE].string_value = _SECRET
        _encode(wire.struct_value.fields["value"], value.value)
    elif isinstance(value, str):
        wire.string_value = value
    elif isinstance(value, bool):
        wire.bool_value = value
    elif isinstance(value, int | float):
        wire.number_value = value
    elif isinstance(value, Mapping):
        wire.struct_value.CopyFrom(Struct())
        _fill(wire.struct_value, value)
    elif isinstance(value, list | tuple):
        items = ListValue()
        for item in value:
            _encode(items.values.add(), item)
        wire.list_value.CopyFrom(items)
    else:
        wire.null_value = 0  # type: ignore[assignment]


def has_unknown(value: Value) -> bool:
    """Say whether ``value`` is or holds an unknown value."""
    if value is UNKNOWN:
        return True
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return False


def without_nulls(value: Value) -> Value:
    """Return ``value`` without the object keys that are null: to a provider, null and left out are the same."""
    if isinstance(value, Mapping):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
