"""A faulty stack file made good enough to go on with, so that one run tells everything that is wrong with it."""

from __future__ import annotations

from typing import Any

from findings import Path

DROP = object()
"""Instead of a replacement: the entry is left out."""
_MISSING = object()


class Draft:
    """The raw stack file with faulty parts left out or replaced. The raw value itself is never touched."""

    def __init__(self, raw: object) -> None:
        """Begin with the file as it is."""
        self.raw = raw
        self.damaged: dict[Path, object] = {}

    def change(self, loc: Path, replacement: object) -> None:
        """Leave out or replace what is at a place of the file, unless that was done before."""
        self.damaged.setdefault(loc, replacement)

    def value(self) -> Any:
        """Return the file with all changes in it: inner ones first, and last entries first, so that places hold."""
        result = self.raw
        for loc in sorted(self.damaged, key=lambda loc: (len(loc), [str(part).zfill(9) for part in loc]), reverse=True):
            result = _changed(result, loc, self.damaged[loc])
        return result

    def place(self, loc: Path) -> Path:
        """Return where in the file a place of the changed file is; a single value given for a list has no index."""
        place: Path = ()
        for part in loc:
            here = self._at(place)
            if isinstance(part, int) and isinstance(here, list | tuple):
                kept = [index for index in range(len(here)) if self.damaged.get((*place, index)) is not DROP]
                place = (*place, kept[part] if part < len(kept) else part)
            elif isinstance(part, str) or isinstance(here, dict):
                place = (*place, part)
        return place

    def keys(self, loc: Path) -> frozenset[str]:
        """The keys of the mapping at a place of the file."""
        here = self._at(loc)
        return frozenset(map(str, here)) if isinstance(here, dict) else frozenset()

    def is_damaged(self, loc: Path) -> bool:
        """Whether a place, or one around it, was left out or replaced."""
        return any(loc[: len(damaged)] == damaged for damaged in self.damaged)

    def holds_damage(self, loc: Path) -> bool:
        """Whether something inside a place was left out or replaced."""
        return any(damaged[: len(loc)] == loc for damaged in self.damaged)

    def spoils(self, pattern: Path) -> bool:
        """Whether a place that a rule needs whole was left out or replaced, or one around it; ``*`` is any entry."""
        return any(
            len(damaged) <= len(pattern)
            and all(want in ("*", part) for want, part in zip(pattern, damaged, strict=False))
            for damaged in self.damaged
        )

    def _at(self, loc: Path) -> object:
        here = self.raw
        for part in loc:
            if isinstance(here, dict):
                here = here.get(part, _MISSING)
            elif isinstance(here, list | tuple) and isinstance(part, int) and part < len(here):
                here = here[part]
            else:
                return _MISSING
        return here


def _changed(container: object, loc: Path, replacement: object) -> object:
    if not loc:
        return None if replacement is DROP else replacement
    key, rest = loc[0], loc[1:]
    if isinstance(container, dict):
        copy = {name: value for name, value in container.items() if rest or str(name) != str(key)}
        if rest and key in copy:
            copy[key] = _changed(copy[key], rest, replacement)
        elif not rest and replacement is not DROP:
            copy[key] = replacement
        return copy
    if isinstance(container, list | tuple) and isinstance(key, int) and key < len(container):
        if not rest and replacement is DROP:
            return [*container[:key], *container[key + 1 :]]
        return [*container[:key], _changed(container[key], rest, replacement), *container[key + 1 :]]
    return container
