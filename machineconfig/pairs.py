"""Which entry of a list is which, before and after a patch: as Talos's merge finds them."""

from typing import Any

from machinery.merge import matches
from machinery.structure import ListOf, Type

Pairs = list[tuple[int | None, int | None]]
"""For each entry of a list, where it was before and where it is in the patch."""


def pairs_of(kind: Type, before: list[Any], after: list[Any], said: list[Any] | None) -> Pairs:
    """Pair the entries of a list after a step with those before and those of the patch, None if it says nothing."""
    pairs = _shrunk(before, after) if said is None else _merged(kind, before, said)
    if len(pairs) != len(after):
        pairs = [(index if index < len(before) else None, None) for index in range(len(after))]
    return pairs


def _merged(kind: Type, before: list[Any], said: list[Any]) -> Pairs:
    """As Talos merges a list: by replacing it, by a key, or by appending to it."""
    if isinstance(kind, ListOf) and not kind.key and kind.replaces:
        return [(index if index < len(before) else None, index) for index in range(len(said))]
    pairs: Pairs = [(index, None) for index in range(len(before))]
    known = list(before)
    for index, item in enumerate(said):
        same = None
        if isinstance(kind, ListOf) and kind.key:
            keys = kind.key.split("|")
            same = next((at for at, other in enumerate(known) if other and item and matches(keys, other, item)), None)
        if same is None:
            pairs.append((None, index))
            if not (isinstance(kind, ListOf) and kind.replaces):
                known.append(item)
        else:
            pairs[same] = (pairs[same][0], index)
    return pairs


def _shrunk(before: list[Any], after: list[Any]) -> Pairs:
    """Entries of a list that a patch says nothing of: some may have been deleted."""
    if len(after) >= len(before):
        return [(index if index < len(before) else None, None) for index in range(len(after))]
    pairs: Pairs = []
    at = 0
    for value in after:
        while at < len(before) and before[at] != value and len(before) - at > len(after) - len(pairs):
            at += 1
        pairs.append((at if at < len(before) else None, None))
        at += 1
    return pairs
