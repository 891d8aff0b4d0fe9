"""Two sides of a comparison, node by node, and what is said of the differences; no value that may be secret."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cli.terminal import paint
from machineconfig.checks.living import ReadOnce
from machineconfig.differences import Change
from machineconfig.paths import Documents, title_of
from machineconfig.redaction import Redacted
from machineconfig.trace import MISSING
from machinery import ConfigError, emit, parse_configuration
from machinery.yaml import load

_WIDEST = 240
_SIGNS = {"removed": ("-", "red"), "changed": ("~", "yellow"), "added": ("+", "green")}
Cause = Callable[[Change], str]
"""The file that a change comes from, in words."""
Table = Mapping[str, Mapping[str, Sequence[str]]]
"""What `render` writes as origins.json: under `set` and `removed`, for each place what is behind it, newest first."""


@dataclass(frozen=True)
class NodeDifference:
    """What is different for one node. `only` is `old` or `new` where the node is on one side alone."""

    stack: str
    node: str
    changes: tuple[Change, ...] = ()
    only: str = ""
    fields: tuple[ReadOnce, ...] = ()
    """Changed fields that a living machine or cluster does not read again."""
    cause: Cause = field(default=lambda change: "", repr=False)

    @property
    def differs(self) -> bool:
        """Whether anything is different at all."""
        return bool(self.changes or self.only)

    @property
    def read_once(self) -> tuple[ReadOnce, ...]:
        """The fields that are not read again, of those in which a change is told."""
        return tuple(field for field in self.fields if any(field.holds(change.place) for change in self.changes))

    def lines(self, *, name_stack: bool = False) -> Iterator[str]:
        """What people read; with `name_stack` the node is named with its stack."""
        node = f"{self.stack}/{self.node}" if name_stack else self.node
        if self.only:
            sign, colour = _SIGNS["removed" if self.only == "old" else "added"]
            yield f"{node}: {paint(f'{sign} the whole node', colour)}"
            return
        noun = "difference" if len(self.changes) == 1 else "differences"
        yield f"{paint(node, 'bold')}: {len(self.changes)} {noun}"
        for change in self.changes:
            sign, colour = _SIGNS[change.kind]
            cause = self.cause(change)
            yield f"  {paint(f'{sign} {change.place}{_values(change)}', colour)}" + (
                f"  {paint(cause, 'dim')}" if cause else ""
            )
        for each in self.read_once:
            yield f"  {paint(f'! {each}', 'yellow')}"

    def plain(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "stack": self.stack,
            "node": self.node,
            "only": self.only or None,
            "changes": [self._plain(change) for change in self.changes],
            "readOnce": [{"path": each.path, "consequence": each.consequence} for each in self.read_once],
        }

    def _plain(self, change: Change) -> dict[str, Any]:
        sides = {"old": change.old, "new": change.new}
        return {
            "path": change.place,
            "kind": change.kind,
            "secret": any(map(_hides, sides.values())),
            **{side: value for side, value in sides.items() if value is not MISSING and not _hides(value)},
            "cause": self.cause(change) or None,
        }


def documents(text: str) -> Documents:
    """The documents of a configuration as plain values; raises machinery.ConfigError."""
    found: dict[str, Any] = {}
    for values in load(text):
        if not values:
            continue  # Talos leaves an empty document where a patch deletes what is not there
        if not isinstance(values, dict):
            raise ConfigError("a document of a machine configuration must be a map")
        found[title_of(values)] = values
    return found


def alike(texts: Sequence[str], version: str) -> list[Documents]:
    """Configurations as one Talos release writes them; as they are, where it cannot read all of them."""
    try:
        parsed = [parse_configuration(text, version) for text in texts]
    except ConfigError:
        return [documents(text) for text in texts]
    sides = [[document.written(each.release) for document in each.documents] for each in parsed]
    return [{title_of(values): values for values in side} for side in sides]


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


def one_sided(stack: str, old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[NodeDifference]:
    """The nodes that are on one side alone."""
    for name in sorted(old.keys() ^ new.keys()):
        yield NodeDifference(stack, name, only="old" if name in old else "new")


def _values(change: Change) -> str:
    old, new = change.old, change.new
    if change.reordered and (_hides(old) or _hides(new)):
        return ": another order"
    if isinstance(new, Redacted) and isinstance(old, Redacted):
        return f" {old if old.certain else new}: changed"
    if change.kind == "changed":
        return f": {'another order, ' if change.reordered else ''}{_shown(old)} -> {_shown(new)}"
    value = new if old is MISSING else old
    return f" {value}" if isinstance(value, Redacted) else f": {_shown(value)}"


def _hides(value: Any) -> bool:
    return isinstance(value, Redacted) or (isinstance(value, list) and any(map(_hides, value)))


def _shown(value: Any) -> str:
    if isinstance(value, Redacted):
        return str(value)
    if isinstance(value, str) and "\n" in value:
        return f"({len(value.splitlines())} lines of text)"
    text = ", ".join(map(str, value)) if isinstance(value, list) and value else emit.scalar(value, "")
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}..."
