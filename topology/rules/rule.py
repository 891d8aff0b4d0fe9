"""What a rule is: a named function that looks at the whole topology and says what does not go together."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from topology.fault import Found, Loc
from topology.topology import Topology

Check = Callable[[Topology], Iterator[Found]]


@dataclass(frozen=True)
class Rule:
    """A check and how it is taken."""

    check: Check
    warning: bool = False
    """Whether what it finds is a warning instead of a fault."""
    reads: tuple[Loc, ...] = ()
    """Parts of the file it needs whole: it is left out where one of them is faulty already. ``*`` is any entry."""


def closest(name: str, known: Iterable[str]) -> list[str]:
    """Return the one of ``known`` that ``name`` may have been meant to be, in a list that may be empty."""
    return difflib.get_close_matches(name[:100], tuple(known), n=1, cutoff=0.6)


def near(name: str, known: Iterable[str]) -> str:
    """Say what ``name`` could have been meant to be: `` (is it worker?)``, or nothing where nothing is like it."""
    close = closest(name, known)
    return f" (is it {' or '.join(close)}?)" if close else ""
