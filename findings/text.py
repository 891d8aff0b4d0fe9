"""Places and values as people write them, in one short line that never holds what could be a secret."""

import difflib
import json
import re
from collections.abc import Iterable
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a value: ``("nodes", 2, "address")``."""

_PART = re.compile(r"[\w-]+")
_PLAIN = re.compile(r"[\w./:@%+*<>=,~$-]+")
_LONGEST = 64


class Nothing:
    """Stands for a value that must not be shown, or is not there: `show` gives no text for it."""


NOTHING = Nothing()


def written(path: Path) -> str:
    """Write a path the way people do: ``nodes[2].address``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + _text(part)
    return text


def path_of(text: str) -> Path:
    """Return the path that a program's author has written as text, of plain keys: ``machine.disks[0]``."""
    return tuple(int(part) if part.isdecimal() else part for part in _PART.findall(text))


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


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the known name that ``name`` may have been meant to be; nothing where none is like it (0 to 1)."""
    return next(iter(difflib.get_close_matches(name[:100], tuple(known), n=1, cutoff=cutoff)), "")


def near(name: str, known: Iterable[str]) -> str:
    """Say what ``name`` could have been meant to be: `` (is it worker?)``, or nothing where nothing is like it."""
    close = nearest(name, known)
    return f" (is it {close}?)" if close else ""


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
