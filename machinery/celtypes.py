"""The types of CEL: which fit together, and what an operator or a function gives for the types of its arguments.

A type is a name and the types in it: `("list", ("string",))`. A capital letter in an overload stands for any type, a
number for one that is not known yet, as that of an empty list.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import count
from typing import TypeAlias, Union

from machinery.celnames import MESSAGES, Context

Type: TypeAlias = tuple[Union[str, "Type"], ...]
Overload: TypeAlias = tuple[tuple[Type, ...], Type]
DYN: Type = ("dyn",)
NULL: Type = ("null",)
BOOL: Type = ("bool",)
_NULLABLE = frozenset(("null", "dyn", "optional", "duration", "timestamp", *MESSAGES))
_WORD = re.compile(r"\w+|[(),]")


@lru_cache(maxsize=1024)
def read_type(text: str) -> Type:
    """Return the type of a text such as `map(int, list(A))`."""
    found, _ = _read(_WORD.findall(text), 0)
    return found


def _read(words: list[str], at: int) -> tuple[Type, int]:
    name, at = words[at], at + 1
    parts: list[Type] = []
    if words[at : at + 1] == ["("]:
        while words[at] != ")":
            part, at = _read(words, at + 1)
            parts.append(part)
        at += 1
    return (name, *parts), at


def shown(kind: Type) -> str:
    """Return a type as people write it."""
    if _is_open(kind):
        return "dyn"
    inner = ", ".join(map(shown, _parts(kind)))
    return f"{kind[0]}({inner})" if inner else str(kind[0])


@cache
def names_of(context: Context) -> dict[str, Type]:
    """Return the variables of a context with their types."""
    return {name: read_type(kind) for group in context.names for kind, names in group.items() for name in names.split()}


@cache
def fields_of(message: str) -> dict[str, Type]:
    """Return the fields of a message with their types."""
    return {name: read_type(kind) for kind, names in MESSAGES[message].items() for name in names.split()}


@cache
def overloads_of(context: Context) -> dict[str, list[Overload]]:
    """Return what there is of each operator and function in a context."""
    found: dict[str, list[Overload]] = {}
    for row in context.functions.strip().splitlines():
        names, _, signatures = row.partition(": ")
        for signature in re.split(r", (?=\()", signatures):
            for name in names.split():
                found.setdefault(name, []).append(_signature(signature))
    return found


def _signature(text: str) -> Overload:
    arguments, at = _read(["x", *_WORD.findall(text)], 0) if not text.startswith("()") else (("x",), 3)
    rest = _WORD.findall(text)[at - 1 :]
    return tuple(_parts(arguments)), _read(rest, 0)[0]


class Types:
    """The types that are found out while one expression is read."""

    def __init__(self, context: Context) -> None:
        """Take what the expression may use."""
        self._context = context
        self._known: dict[Type, Type] = {}
        self._numbers = count()

    def unknown(self) -> Type:
        """Return a type that is not known yet."""
        return (str(next(self._numbers)),)

    def of(self, kind: Type) -> Type:
        """Return a type with what is known by now."""
        if kind in self._known:
            return self.of(self._known[kind])
        return (kind[0], *(self.of(part) for part in kind[1:] if not isinstance(part, str)))

    def call(self, name: str, arguments: Sequence[Type]) -> Type:
        """Return what an operator or function gives; raises ValueError where there is none for these types."""
        overloads = overloads_of(self._context).get(name)
        if overloads is None:
            raise ValueError(f"there is no function {name.removeprefix('.')}")
        found: Type | None = None
        for wanted, result in overloads:
            before = dict(self._known)
            letters: dict[str, Type] = {}
            if len(wanted) == len(arguments) and all(
                self.fits(argument, self._fresh(kind, letters))
                for kind, argument in zip(wanted, arguments, strict=True)
            ):
                given = self.of(self._fresh(result, letters))
                found = given if found in (None, given) else DYN
            else:
                self._known = before
        if found is None:
            raise ValueError(_no_overload(name, [shown(self.of(each)) for each in arguments]))
        return found

    def _fresh(self, kind: Type, letters: dict[str, Type]) -> Type:
        name = kind[0]
        if isinstance(name, str) and len(name) == 1 and name.isupper():
            return letters.setdefault(name, self.unknown())
        return (name, *(self._fresh(part, letters) for part in kind[1:] if not isinstance(part, str)))

    def fits(self, left: Type, right: Type) -> bool:
        """Tell whether two types go together, and remember what that says of those not known yet."""
        left, right = self._known.get(left, left), self._known.get(right, right)
        if left == right:
            return True
        for kind, other in ((right, left), (left, right)):
            if _is_open(kind):
                self._known[kind] = other
                return True
        if "dyn" in (left[0], right[0]):
            return True
        if "null" in (left[0], right[0]):
            return {left[0], right[0]} <= _NULLABLE
        if left[0] != right[0] or len(left) != len(right):
            return False
        return left[0] == "type" or all(map(self.fits, _parts(left), _parts(right)))

    def joined(self, kinds: Sequence[Type]) -> Type:
        """Return the type of the items of a literal."""
        found = self.unknown() if not kinds else kinds[0]
        for kind in kinds[1:]:
            found = (
                (found if found[0] == "dyn" else kind if kind[0] == "dyn" else found) if self.fits(found, kind) else DYN
            )
        return self.of(found)

    def member(self, target: Type, name: str) -> Type:
        """Return the type of a field; raises ValueError where there is none."""
        target = self.of(target)
        if target[0] == "optional":
            inner = self.member(next(_parts(target)), name)
            return inner if inner[0] == "optional" else ("optional", inner)
        if isinstance(target[0], str) and target[0] in MESSAGES:
            if name not in fields_of(target[0]):
                raise ValueError(f"{target[0]} has no {name}")
            return fields_of(target[0])[name]
        if target[0] == "map":
            return list(_parts(target))[1]
        if target[0] == "dyn" or _is_open(target):
            return DYN
        raise ValueError(f"{shown(target)} has no {name}")

    def item(self, target: Type) -> Type:
        """Return the type of what a macro goes through; raises ValueError where that cannot be gone through."""
        target = self.of(target)
        if target[0] in ("list", "map"):
            return next(_parts(target))
        if target[0] == "dyn" or _is_open(target):
            return DYN
        raise ValueError(f"{shown(target)} has no items")


def _is_open(kind: Type) -> bool:
    return isinstance(kind[0], str) and kind[0].isdecimal()


def _parts(kind: Type) -> Iterator[Type]:
    return (part for part in kind[1:] if not isinstance(part, str))


def _no_overload(name: str, arguments: list[str]) -> str:
    sign = {"--": "-"}.get(name, name)
    if name == "?":
        return f"a choice by {arguments[0]} between {arguments[1]} and {arguments[2]}"
    if name.startswith("["):
        return f"{arguments[0]} has no items by {arguments[1]}"
    if name.startswith("."):
        return f"{arguments[0]} has no function {name[1:]}({', '.join(arguments[1:])})"
    if name.isalpha() and name != "in":
        return f"{name} is not for ({', '.join(arguments)})"
    return (
        f"{' '.join([arguments[0], sign, arguments[1]] if len(arguments) > 1 else [sign, *arguments])} is not defined"
    )
