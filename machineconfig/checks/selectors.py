"""What a disk selector says of a disk of which only some attributes are known: that it fits, that it does not, or None.

The grammar is that of Talos's expressions; what is computed is what tells disks apart: comparisons, sizes, lists
of links, beginnings and endings of text, and their combinations. Everything else is not known.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from machinery.celtokens import ReadError, tokens

_LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%"))
_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_COMPUTED: Mapping[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_UNITS = {
    **{unit: 1024 ** (power + 1) for power, unit in enumerate(("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))},
    **{unit: 1000 ** (power + 1) for power, unit in enumerate(("kB", "MB", "GB", "TB", "PB", "EB"))},
}
_METHODS: Mapping[str, Callable[[str, str], bool]] = {
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": str.__contains__,
}
SYSTEM_DISK = "system_disk"
IDENTIFYING = ("serial", "wwid", "uuid", "bus_path")
_NO_DISK = "\0"
"""A serial number that no disk has."""
Disk = Mapping[str, Any]
"""Attributes by name, with `system_disk` among them; `symlinks` are those that are known, there may be more."""


def holds(expression: str, disk: Disk) -> bool | None:
    """Whether a disk fits; None where that cannot be told."""
    try:
        value = _Reader(expression, disk).whole()
    except (ReadError, ValueError, TypeError, IndexError):
        return None
    return value if isinstance(value, bool) else None


def fits(expression: str, disk: Disk) -> bool:
    """Whether a disk surely fits, or is the one that an expression names, whatever else it asks of it."""
    value, asked = holds(expression, disk), meant(expression)
    named = any(asked.get(key) is not None and asked.get(key) == disk.get(key) for key in (*IDENTIFYING, "symlinks"))
    return bool(value) or (value is None and named)


def names_one(expression: str) -> bool:
    """Whether only a disk with a certain serial number, id, port or link fits."""
    return holds(expression, {**dict.fromkeys(IDENTIFYING, _NO_DISK), "symlinks": ()}) is False


def mentions(expression: str, name: str) -> bool:
    """Whether a name stands in an expression."""
    try:
        return ("name", name) in tokens(expression)
    except ReadError:
        return False


def meant(expression: str) -> Disk:
    """The attributes that an expression asks to be a certain text: what is known of the disk it is written for."""
    try:
        words = tokens(expression)
    except ReadError:
        return {}
    found: dict[str, Any] = {}
    for at, (kind, text) in enumerate(words):
        after = [word for _, word in words[at + 1 : at + 5]]
        before = [word for _, word in words[max(at - 4, 0) : at]]
        if kind != "text":
            continue
        if after[:3] == ["in", "disk", "."] and after[3:] == ["symlinks"]:
            found.setdefault("symlinks", (_text(text),))
        elif before[-1:] == ["=="] and before[:2] == ["disk", "."]:
            found.setdefault(before[2], _text(text))
    return found


class _Reader:
    """Reads an expression from left to right; every method returns a value, None for one that is not known."""

    def __init__(self, text: str, disk: Disk) -> None:
        self._tokens, self._at, self._disk = tokens(text), 0, disk

    def whole(self) -> Any:
        value = self._binary(0)
        if self._tokens[self._at][1]:
            raise ReadError("not all of it can be computed")
        return value

    def _take(self, sign: str) -> bool:
        kind, text = self._tokens[self._at]
        taken = kind in ("sign", "name") and text == sign
        self._at += taken
        return taken

    def _binary(self, level: int) -> Any:
        if level == len(_LEVELS):
            return self._unary()
        value = self._binary(level + 1)
        while self._tokens[self._at][0] in ("sign", "name") and self._tokens[self._at][1] in _LEVELS[level]:
            sign = self._tokens[self._at][1]
            self._at += 1
            value = _combined(sign, value, self._binary(level + 1))
        return value

    def _unary(self) -> Any:
        if self._take("!"):
            value = self._unary()
            return None if value is None else not value
        if self._take("-"):
            self._unary()
            return None
        return self._postfix(self._primary())

    def _postfix(self, value: Any) -> Any:
        while True:
            if self._take("."):
                name = self._tokens[self._at][1]
                self._at += 1
                value = self._called(value, name) if self._take("(") else self._member(value, name)
            elif self._take("["):
                self._arguments("]")
                value = None
            else:
                return value

    def _member(self, value: Any, name: str) -> Any:
        return self._disk.get(name) if value is self._disk else None

    def _called(self, value: Any, name: str) -> Any:
        arguments = self._arguments(")")
        if name in _METHODS and isinstance(value, str) and len(arguments) == 1 and isinstance(arguments[0], str):
            return _METHODS[name](value, arguments[0])
        return None

    def _arguments(self, end: str) -> list[Any]:
        found: list[Any] = []
        while not self._take(end):
            if found and not self._take(","):
                raise ReadError("a comma is missing")
            found.append(self._binary(0))
        return found

    def _primary(self) -> Any:
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind in ("int", "uint"):
            return int(text.rstrip("uU"), 0)
        if kind == "float":
            return float(text)
        if kind == "text":
            return _text(text)
        if kind == "name":
            return self._named(text)
        if text == "(":
            value = self._binary(0)
            if not self._take(")"):
                raise ReadError("a bracket is missing")
            return value
        if text == "[":
            items = self._arguments("]")
            return None if None in items else tuple(items)
        raise ReadError(f"{text} is not computed")

    def _named(self, name: str) -> Any:
        if self._take("("):
            self._arguments(")")
            return None
        if name == "disk":
            return self._disk
        known: Mapping[str, Any] = {"true": True, "false": False, **_UNITS, SYSTEM_DISK: self._disk.get(SYSTEM_DISK)}
        return known.get(name)


def _combined(sign: str, left: Any, right: Any) -> Any:
    if sign in ("&&", "||"):
        decides = sign == "||"
        if left is decides or right is decides:
            return decides
        return None if left is None or right is None else not decides
    if left is None or right is None:
        return None
    if sign == "in":
        return True if left in right else None if right else False
    compute = _COMPARED.get(sign) or _COMPUTED.get(sign)
    return compute(left, right) if compute else None


def _text(literal: str) -> str:
    value = ast.literal_eval(literal)
    return value if isinstance(value, str) else ""
