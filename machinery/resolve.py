"""What a YAML scalar means to Talos's reader before any field's wish: its tag, and its value in Go's types."""

import base64
import binascii
import re
from typing import Any

from yaml.nodes import ScalarNode

from machinery.emit import Verbatim
from machinery.errors import ConfigError
from machinery.limits import line
from machinery.problems import Problem
from machinery.timestamps import timestamp

PLAIN = "plain"
STRING = "tag:yaml.org,2002:str"
_STANDARD = "tag:yaml.org,2002:"
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_WORDS: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(_NULL, ("null", None)),
    **dict.fromkeys(("true", "True", "TRUE"), ("bool", True)),
    **dict.fromkeys(("false", "False", "FALSE"), ("bool", False)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), ("float", float("nan"))),
    **{sign + word: ("float", float(sign + "inf")) for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys(("-0", "-0.0"), ("float", -0.0)),
}
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


def is_null(node: ScalarNode) -> bool:
    """Tell whether a scalar leaves its field unset."""
    return node.tag in (PLAIN, _STANDARD + "null") and node.value in _NULL


def plain(node: ScalarNode) -> Any:
    """Return what a scalar means where anything may stand: None, bool, int, float, a date (Verbatim) or text.

    `0o644`, `0x1f`, `0b11`, `0644` (octal) and `1_000` are integers, `08` is a float; `off`, `yes` and their kind are
    text. Raises ConfigError where the value does not fit its tag.
    """
    return meaning(node)[1]


def text_of(node: ScalarNode) -> str:
    """Return a scalar's text where text is wanted, decoded where it is `!!binary`; raises ConfigError as plain does."""
    if node.tag in (PLAIN, STRING):
        return str(node.value)
    tag, value = meaning(node)
    return str(value) if tag == "binary" else str(node.value)


def meaning(node: ScalarNode) -> tuple[str, Any]:
    """Return the tag that counts (null, bool, int, float, timestamp, str, binary or another) and the value."""
    text: str = node.value
    if node.tag == STRING:
        return "str", text
    if node.tag == PLAIN:
        return implied(text)
    tag = node.tag.removeprefix(_STANDARD)
    if tag == "binary":
        return tag, _binary(node)
    if tag not in ("null", "bool", "int", "float", "timestamp"):
        return tag, text
    found, value = implied(text, dates=tag == "timestamp")
    if (tag, found) == ("float", "int") and abs(value) < 1 << 63:
        return "float", float(value)
    if found != tag:
        raise _refused(node, f"the value does not fit its tag !!{tag}")
    return found, value


def implied(text: str, *, dates: bool = True) -> tuple[str, Any]:
    """Return the tag and the value of a plain scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] == ".":
        return _float(text)
    if text[0] not in "+-0123456789":
        return "str", text
    if dates and (stamp := timestamp(text)):
        return "timestamp", Verbatim(stamp)
    digits = text.replace("_", "")
    if _INTEGER.fullmatch(digits) and (number := integer(digits)) is not None:
        return "int", number
    found, value = _float(digits)
    return (found, value) if found == "float" else ("str", text)


def integer(digits: str) -> int | None:
    """Return the number of digits in Go's notations, or None where it has more than 64 bits."""
    sign = -1 if digits[0] == "-" else 1
    body = digits.lstrip("+-").lower()
    base = {"0x": 16, "0b": 2, "0o": 8}.get(body[:2], 8 if len(body) > 1 and body[0] == "0" else 10)
    number = sign * int(body[2:] if body[1:2] in ("x", "b", "o") else body, base)
    most = 1 << 63 if digits[0] in "+-" else 1 << 64
    return number if -(1 << 63) <= number < most else None


def _float(text: str) -> tuple[str, Any]:
    if _FLOAT.fullmatch(text):
        number = float(text)
        if abs(number) != float("inf"):
            return "float", number
    return "str", text


def _binary(node: ScalarNode) -> str:
    try:
        data = base64.b64decode(re.sub(r"[\r\n]", "", node.value), validate=True)
    except (binascii.Error, ValueError):
        raise _refused(node, "the value does not fit its tag !!binary") from None
    return data.decode("utf-8", "surrogateescape")


def _refused(node: ScalarNode, message: str) -> ConfigError:
    return ConfigError(Problem(message, line=line(node)))
