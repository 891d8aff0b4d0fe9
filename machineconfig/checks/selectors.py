"""What a disk selector says of a disk of which only some attributes are known: that it fits, that it does not, or None.

Talos's expressions are read as Python's, which have the same operators but for a few words. What is computed is what
tells disks apart: comparisons, sizes, lists of links, beginnings and endings of text, and their combinations.
Everything else is not known.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from machinery.celtokens import ReadError, tokens

_PYTHON = {"&&": "and", "||": "or", "!": "~", "true": "True", "false": "False"}
"""Words that are others in Python; `~` binds as `!` does."""
_COMPUTED: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
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
    tree = _tree(expression)
    try:
        value = _value(tree, disk) if tree else None
    except (TypeError, RecursionError):
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
    """Whether an expression has a name."""
    try:
        return ("name", name) in tokens(expression)
    except ReadError:
        return False


def meant(expression: str) -> Disk:
    """The attributes that an expression asks to be a certain text: what is known of the disk it is written for."""
    found: dict[str, Any] = {}
    for node in ast.walk(_tree(expression) or ast.Constant(None)):
        match node:
            case ast.Compare(ast.Attribute(ast.Name("disk"), name), [ast.Eq()], [ast.Constant(str(text))]):
                found.setdefault(name, text)
            case ast.Compare(ast.Constant(str(text)), [ast.In()], [ast.Attribute(ast.Name("disk"), "symlinks")]):
                found.setdefault("symlinks", (text,))
    return found


@lru_cache(maxsize=256)
def _tree(expression: str) -> ast.expr | None:
    """An expression as Python reads it; None for what it cannot read."""
    try:
        words = [_PYTHON.get(text, text.rstrip("uU") if kind == "uint" else text) for kind, text in tokens(expression)]
        return ast.parse(" ".join(words), mode="eval").body
    except (ReadError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, disk: Disk) -> Any:
    """The value of a part of an expression; None for one that is not known."""
    match node:
        case ast.Constant(bool() | int() | float() | str() as value):
            return value
        case ast.Name(name):
            return disk.get(name) if name == SYSTEM_DISK else _UNITS.get(name)
        case ast.Attribute(ast.Name("disk"), name):
            return disk.get(name)
        case ast.List(items):
            values = [_value(item, disk) for item in items]
            return None if None in values else tuple(values)
        case ast.UnaryOp(ast.Invert(), operand):
            value = _value(operand, disk)
            return None if value is None else not value
        case ast.BoolOp(op, parts):
            return _decided(isinstance(op, ast.Or), [_value(part, disk) for part in parts])
        case ast.Compare(left, [op], [right]) | ast.BinOp(left, op, right):
            return _computed(op, _value(left, disk), _value(right, disk))
        case ast.Call(ast.Attribute(of, name), [argument]) if name in _METHODS:
            text, part = _value(of, disk), _value(argument, disk)
            return _METHODS[name](text, part) if isinstance(text, str) and isinstance(part, str) else None
    return None


def _decided(decides: bool, values: list[Any]) -> bool | None:
    """What `||` (True decides) or `&&` (False does) makes of values."""
    if any(value is decides for value in values):
        return decides
    return None if None in values else not decides


def _computed(sign: ast.AST, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if isinstance(sign, ast.operator) and not (isinstance(left, int | float) and isinstance(right, int | float)):
        return None
    if isinstance(sign, ast.In):
        return True if left in right else None if right else False
    compute = _COMPUTED.get(type(sign))
    return compute(left, right) if compute else None
