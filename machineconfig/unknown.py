"""Names that a template uses and nobody has given: what has no such part, in the template's own words, and the cure."""

import re
from collections.abc import Iterable, Mapping
from functools import partial

from jinja2 import StrictUndefined, UndefinedError
from jinja2.utils import missing

from findings import nearest
from machineconfig.visible import names_of
from topology import Node, Topology

NAMES = ("node", "cluster", "facts", "secret", "include")
_MOST = 12
"""Names in a cure."""


class UnknownNameError(UndefinedError):
    """A name that is not there; `owner` is what it was looked for in, `missing` where that is the template itself."""

    def __init__(self, owner: object, name: object, message: str | None = None) -> None:
        """Jinja's own message, which speaks of Python's types, is not kept."""
        super().__init__("is not there")
        self.owner, self.name = owner, str(name)

    def said(self, line: str) -> tuple[str, str]:
        """The message and the cure; `line` is the one of the template that failed."""
        if self.owner is missing:
            return f"{self.name} is not defined{_near(self.name, NAMES)}", f"a template knows {', '.join(NAMES)}"
        place = _place(line, self.name) or _kind(self.owner)
        members = sorted(set(_members(self.owner)))
        return f"{place} has no {self.name}{_near(self.name, members)}", _cure(place, self.name, members)


class Unknown(StrictUndefined):
    """An undefined name that says what it is no part of, and which known name is near."""

    __slots__ = ()

    def __init__(
        self,
        hint: str | None = None,
        obj: object = missing,
        name: str | None = None,
        exc: type[UndefinedError] = UndefinedError,
    ) -> None:
        """Take what Jinja knows of it."""
        super().__init__(hint, obj, name, partial(UnknownNameError, obj, name))  # type: ignore[arg-type]


def _place(line: str, name: str) -> str:
    """What comes before the name on the line: `node.data` of `node.data.rack`; nothing where that is not clear."""
    word = re.escape(name)
    before = rf"(?<![\w.\]])([A-Za-z_](?:[\w.]|\[[^\]]*\])*?)(?:\.{word}\b|\[\s*['\"]{word}['\"]\s*\])"
    found = set(re.findall(before, line))
    return found.pop() if len(found) == 1 else ""


def _kind(owner: object) -> str:
    if isinstance(owner, Node | Topology):
        return "node" if isinstance(owner, Node) else "cluster"
    return "a map" if isinstance(owner, Mapping) else "a value"


def _cure(place: str, name: str, members: list[str]) -> str:
    where, _, last = place.rpartition(".")
    if last == "data" and where:
        whose = "zone" if ".zones" in f".{where}" else where
        return f"give it in the stack file (data: {{{name}: ...}} of the {whose})"
    more = ", ..." if len(members) > _MOST else ""
    return f"it has {', '.join(members[:_MOST])}{more}" if members else "it has nothing in it"


def _members(value: object) -> Iterable[str]:
    if isinstance(value, Mapping):
        return map(str, value)
    return names_of(type(value))


def _near(name: str, known: Iterable[str]) -> str:
    near = nearest(name, sorted(set(known)))
    return f" (near it: {near})" if near else ""
