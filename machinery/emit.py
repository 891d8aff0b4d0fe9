"""Writing YAML in the form Talos writes: four spaces, list items indented, strings quoted only where they must be.

What this writes is read back as the same values by readers of YAML 1.1 and 1.2: the string `off` stands in quotes, as
in Talos's own output.
"""

import re
from base64 import b64encode
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from typing import Any

from machinery.timestamps import timestamp

_SHORT = 60  # characters
_SHORTEST_EXPONENT = 6  # numbers of so many digits before the point and more are written with an exponent
# Most texts: nothing in them could be taken for anything else.
_OBVIOUS = re.compile(r"/?[A-Za-z][A-Za-z0-9/]+[._/-][A-Za-z0-9._/-]*[A-Za-z0-9]")
_SPECIAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\ufeff\ufffe\uffff\U00010000-\U0010ffff]")
_BYTES = re.compile(r"[\udc80-\udcff]")
_INDICATOR = re.compile(r"[#,\[\]{}&*!|>'\"%@`]|[?:-](?:[ \t]|\Z)|---|\.\.\.")
_INSIDE = re.compile(r":(?:[ \t]|\Z)|[ \t\n]#")
# Words that a reader would not take for text; readers of YAML 1.1 stumble over `=`, which Talos leaves bare.
_OLD_BOOLS = frozenset(
    word for base in ("yes", "no", "on", "off", "y", "n") for word in (base, base.capitalize(), base.upper())
)
_WORDS = _OLD_BOOLS | {
    *(word for base in ("true", "false", "null") for word in (base, base.capitalize(), base.upper())),
    "",
    "~",
    "<<",
    "=",
    ".nan",
    ".NaN",
    ".NAN",
}
_INFINITE = frozenset(sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF"))
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BETWEEN = re.compile(r"(?<=[0-9])_(?=[0-9])")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_ESCAPES = {
    "\0": "\\0",
    "\a": "\\a",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\v": "\\v",
    "\f": "\\f",
    "\r": "\\r",
    "\x1b": "\\e",
    '"': '\\"',
    "\\": "\\\\",
    "\x85": "\\N",
    "\u2028": "\\L",
    "\u2029": "\\P",
}


class Argument(str):
    """Text that is quoted only where a reader of YAML 1.2 needs it: Talos writes extraArgs so."""

    __slots__ = ()


class Verbatim(str):
    """A scalar that is no text and is written as it is, without quotes: `0o644`, a date, a key that is a number."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """No text is equal to it."""
        return isinstance(other, Verbatim) and str(self) == str(other)

    def __hash__(self) -> int:
        """As for a text, beside which it may stand in a map."""
        return hash(str(self))


def dump(documents: list[Any]) -> str:
    """Return the YAML of several documents."""
    return "---\n".join(_document(document) for document in documents)


def _document(value: Any) -> str:
    lines: list[str] = []
    if isinstance(value, dict) and value:
        _mapping(value, "", lines)
    elif isinstance(value, list) and value:
        _sequence(value, "", lines)
    else:
        lines.append(scalar(value, ""))
    return "\n".join(lines) + "\n"


def _mapping(value: dict[str, Any], indent: str, lines: list[str], inner: str = "") -> None:
    """Write a map; `inner` is the indent of what stands in it, where it is not four more than its own."""
    inner = inner or indent + "    "
    for key, item in value.items():
        name = scalar(key, "")
        if isinstance(item, dict) and item:
            lines.append(f"{indent}{name}:")
            _mapping(item, inner, lines)
        elif isinstance(item, list) and item:
            lines.append(f"{indent}{name}:")
            _sequence(item, inner, lines)
        else:
            lines.append(f"{indent}{name}: {scalar(item, inner)}")


def _sequence(value: list[Any], indent: str, lines: list[str]) -> None:
    for item in value:
        if isinstance(item, (dict, list)) and item:
            start = len(lines)
            if isinstance(item, dict):
                _mapping(item, indent + "  ", lines, indent + "    ")
            else:
                _sequence(item, indent + "  ", lines)
            lines[start] = f"{indent}- {lines[start][len(indent) + 2 :]}"
        else:
            lines.append(f"{indent}- {scalar(item, indent + '  ')}")


def scalar(value: Any, indent: str) -> str:
    """Return one scalar; text of several lines becomes a block indented by `indent`."""
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, str):
        return _text(value, indent)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    return str(value)


def _float(value: float) -> str:
    """Write a number as Go does: `1`, `1000`, `1e+06`, `-0`."""
    if value != value:
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    power = int(exponent) + len(text) - 1
    if -4 <= power < _SHORTEST_EXPONENT or value == 0:
        return ("-" if sign else "") + f"{abs(Decimal(repr(value)).normalize()):f}"
    mantissa = text[0] + (f".{text[1:]}" if text[1:] else "")
    return f"{'-' if sign else ''}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02}"


def _text(value: str, indent: str) -> str:
    if isinstance(value, Argument):
        return value if (value in _OLD_BOOLS or _BASE_60.fullmatch(value)) else _text(str(value), indent)
    if len(value) <= _SHORT and "\n" not in value:
        return _short(value)
    return value if _OBVIOUS.fullmatch(value) else _judged(value, indent)


@lru_cache(maxsize=4096)
def _short(value: str) -> str:
    """Keys and most values, which stand in every configuration again."""
    return _judged(value, "")


def _judged(value: str, indent: str) -> str:
    if _BYTES.search(value):
        return f"!!binary {b64encode(value.encode(errors='surrogateescape')).decode()}"
    if "\n" in value:
        return _block(value, indent) if indent and _can_be_block(value) else _double(value)
    if value in _WORDS or value in _INFINITE or _is_number(value):
        return _double(value)
    if _is_plain(value):
        return value
    if _SPECIAL.search(value) or "\t" in value:
        return _double(value)
    return "'" + value.replace("'", "''") + "'"


def _can_be_block(value: str) -> bool:
    """Whether a reader finds the same text in a literal block; Talos's writer risks more where a line begins blank."""
    start = value.lstrip("\n")[:1]
    return bool(start) and start not in " \t" and value[-1] != " " and " \n" not in value and not _SPECIAL.search(value)


def _block(value: str, indent: str) -> str:
    chomp = "-" if value[-1] != "\n" else "+" if value.endswith("\n\n") else ""
    rows = (value if chomp == "-" else value[:-1]).split("\n")
    return f"|{chomp}" + "".join(f"\n{indent}{row}" if row else "\n" for row in rows)


def _is_plain(value: str) -> bool:
    return not (
        _INDICATOR.match(value)
        or _INSIDE.search(value)
        or value[0] == " "
        or value[-1] == " "
        or "\t" in value
        or _SPECIAL.search(value)
    )


def _is_number(value: str) -> bool:
    """Whether a reader would take a text for a number or a date, by the rules of Talos's writer."""
    digits = value.replace("_", "") if value[:1] in set("+-0123456789") else _BETWEEN.sub("", value)
    if _INTEGER.fullmatch(digits):
        base = 0 if digits.lstrip("+-")[1:2].isalpha() else 8
        if abs(int(digits, base)) < 1 << 64:
            return True
    if _FLOAT.fullmatch(digits):
        return isfinite(float(digits))
    return bool(timestamp(digits) or _BASE_60.fullmatch(value))


def _double(value: str) -> str:
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(sign: str) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if not _SPECIAL.match(sign):
        return sign
    code = ord(sign)
    return f"\\x{code:02X}" if code <= 0xFF else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
