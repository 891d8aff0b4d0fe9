"""Protobuf on the wire, for the few messages of which only a field or two matter."""

Value = int | str | bytes


def message(*fields: tuple[int, Value]) -> bytes:
    """A message with these fields by number; what is empty or zero is left out, as in proto3."""
    return b"".join(_field(number, value) for number, value in fields if value)


def _field(number: int, value: Value) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*parts, value))
