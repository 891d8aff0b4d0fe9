"""What is wrong with a stack file: a fault is one line with the path, the value, what is wrong and the cure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

Loc = tuple[str | int, ...]
"""Where a value stands in the stack file, in its own keys: ``("nodes", 2, "address")``."""

_PLAIN = re.compile(r"[\w./:@%+*>=,~-]+")
_LONGEST = 64


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, or in a topology's warnings, one thing to think about.

    ``str()`` gives the line a person reads. No fault holds a whole document, a key block or a password: see `show`.
    """

    path: str
    value: str
    message: str
    cure: str

    def __str__(self) -> str:
        """One line: ``nodes[2].address: 192.168.1.121 is also ...; give every node an address of its own``."""
        return f"{self.path}: {' '.join(part for part in (self.value, self.message) if part)}; {self.cure}"


@dataclass(frozen=True)
class Found:
    """A fault as a rule finds it: the place as keys and the value as it is, before both become text."""

    loc: Loc
    value: object
    message: str
    cure: str
    also: tuple[Loc, ...] = ()
    """More places the finding rests on: it is not told where one of them is faulty by itself."""

    def fault(self) -> Fault:
        """Return it as text."""
        return Fault(at(self.loc), show(self.value), self.message, self.cure)


class Nothing:
    """Stands for a value that must not be shown, or is not there: `show` gives no text for it."""


NOTHING = Nothing()


class TopologyError(ValueError):
    """The stack file is refused. ``faults`` holds everything that is wrong with it; ``str()`` has one line for each."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        """Take every fault that was found, in the order of the file."""
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


def at(loc: Loc) -> str:
    """Write a place the way people do: ``nodes[2].address``; the whole value is ``cluster``, its key in the file."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + _text(part)
    return text or "cluster"


def show(value: object) -> str:
    """Write a value so that it can be recognised, in one short line, without what could be a secret."""
    match value:
        case Nothing():
            return ""
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return "a block of text" if "-----BEGIN" in value or "\n" in value.strip() else _text(value)
        case int() | float():
            return _number(value)
        case dict():
            return "a mapping"
        case list() | tuple() | set() | frozenset():
            return "a list"
        case _:
            return _text(str(value))


def _number(value: float) -> str:
    try:
        return _text(str(value))
    except ValueError:  # Python refuses to write integers of more than 4300 digits.
        return "a very large number"


def _text(text: str) -> str:
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    if _PLAIN.fullmatch(short) and short.isprintable():
        return short
    quoted = json.dumps(short, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in quoted)
