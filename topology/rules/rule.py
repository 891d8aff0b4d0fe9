"""What a rule is: a named function that looks at the whole topology and says what does not go together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from findings import Finding, Path
from topology.topology import Topology

Check = Callable[[Topology], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """A check and how it is taken."""

    check: Check
    warning: bool = False
    """Whether what it finds is a warning instead of a fault."""
    reads: tuple[Path, ...] = ()
    """Parts of the file it needs whole: it is left out where one of them is faulty already. ``*`` is any entry."""
