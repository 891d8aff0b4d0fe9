"""The file that a change comes from, told from where the values of both sides come from."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from cli.difference import Cause
from machineconfig.differences import Change

Table = Mapping[str, Mapping[str, Sequence[str]]]
"""What `render` writes as origins.json: under `set` and `removed`, for each place what is behind it, newest first."""


def cause_of(new: Callable[[], Table], old: Callable[[], Table] | None) -> Cause:
    """The file of a change, from the tables of both sides; each is made when it is first asked for."""
    after, before = cache(new), cache(old or dict)

    def cause(change: Change) -> str:
        if change.kind != "removed":
            return _first(after().get("set", {}), change.place)
        if deleted := after().get("removed", {}).get(change.place):
            return deleted[0]
        was = _first(before().get("set", {}), change.place)
        return f"was set by {was}" if was else "no file sets it"

    return cause


def _first(table: Mapping[str, Sequence[str]], place: str) -> str:
    if place in table:
        return table[place][0]
    return next((steps[0] for at, steps in table.items() if at.startswith((f"{place}[", f"{place}."))), "")
