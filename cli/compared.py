"""Two sides of a comparison, node by node, and what is said of the differences; no value that may be secret."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cli.terminal import paint
from machineconfig.checks.living import ReadOnce, read_once
from machineconfig.differences import Change, compare
from machineconfig.marks import Mask
from machineconfig.paths import Documents, title_of
from machineconfig.sensitive import is_secret
from machineconfig.trace import MISSING
from machinery import ConfigError, emit, parse_configuration
from machinery.yaml import load

_WIDEST = 240
_SIGNS = {"removed": ("-", "red"), "changed": ("~", "yellow"), "added": ("+", "green")}
Cause = Callable[[Change], str]
"""The file that a change comes from, in words."""
NO_MASK = Mask({})


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
    mask: Mask = field(default=NO_MASK, repr=False)

    @property
    def differs(self) -> bool:
        """Whether anything is different at all."""
        return bool(self.changes or self.only)

    @property
    def read_once(self) -> tuple[ReadOnce, ...]:
        """The fields that are not read again, of those in which a change is told."""
        return tuple(field for field in self.fields if any(field.holds(change.place) for change in self.changes))

    def lines(self) -> Iterator[str]:
        """What people read."""
        if self.only:
            sign, colour = _SIGNS["removed" if self.only == "old" else "added"]
            yield f"{self.node}: {paint(f'{sign} the whole node', colour)}"
            return
        noun = "difference" if len(self.changes) == 1 else "differences"
        yield f"{paint(self.node, 'bold')}: {len(self.changes)} {noun}"
        for change in self.changes:
            sign, colour = _SIGNS[change.kind]
            cause = self.cause(change)
            yield f"  {paint(f'{sign} {change.place}{self._values(change)}', colour)}" + (
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

    def _values(self, change: Change) -> str:
        if self._hidden(change):
            return {"removed": " (secret)", "changed": " (secret): changed", "added": " (secret)"}[change.kind]
        if change.reordered:
            return f": another order, {_shown(change.old)} -> {_shown(change.new)}"
        if change.kind == "changed":
            return f": {_shown(change.old)} -> {_shown(change.new)}"
        return f": {_shown(change.new if change.old is MISSING else change.old)}"

    def _plain(self, change: Change) -> dict[str, Any]:
        hidden = self._hidden(change)
        shown = {} if hidden else {key: value for key, value in _sides(change) if value is not MISSING}
        return {
            "path": change.place,
            "kind": change.kind,
            "secret": hidden,
            **shown,
            "cause": self.cause(change) or None,
        }

    def _hidden(self, change: Change) -> bool:
        values = tuple(value for _, value in _sides(change) if value is not MISSING)
        return is_secret(change.path, values, self.mask)


def difference(
    stack: str, node: str, old: Documents, new: Documents, *, cause: Cause, mask: Mask = NO_MASK
) -> NodeDifference:
    """Compare two configurations of a node."""
    return NodeDifference(stack, node, compare(old, new), fields=read_once(old, new), cause=cause, mask=mask)


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


def alike(old: str, new: str, version: str) -> tuple[Documents, Documents]:
    """Two configurations as one Talos release writes them; as they stand, where it cannot read both."""
    try:
        parsed = [parse_configuration(text, version) for text in (old, new)]
    except ConfigError:
        return documents(old), documents(new)
    sides = [[document.written(each.release) for document in each.documents] for each in parsed]
    old_side, new_side = ({title_of(values): values for values in side} for side in sides)
    return old_side, new_side


def one_sided(stack: str, old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[NodeDifference]:
    """The nodes that are on one side alone."""
    for name in sorted(old.keys() ^ new.keys()):
        yield NodeDifference(stack, name, only="old" if name in old else "new")


def _sides(change: Change) -> tuple[tuple[str, Any], tuple[str, Any]]:
    return ("old", change.old), ("new", change.new)


def _shown(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        return f"({len(value.splitlines())} lines of text)"
    text = ", ".join(map(str, value)) if isinstance(value, list) and value else emit.scalar(value, "")
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}..."
