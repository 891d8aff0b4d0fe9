"""A shadow of a configuration: for every value the steps that made it, kept up to date patch by patch.

What a step changed is told from the values before and after it, so nothing that Talos's merge does is missed. The
patch's own nodes say at which line, and which values it set to what they were already.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from machineconfig.pairs import pairs_of
from machineconfig.paths import Path
from machinery.structure import Anything, ListOf, MapOf, Release, Struct, Type
from machinery.yaml import MappingNode, Node, ScalarNode, SequenceNode
from machinery.yaml import line as line_of


class _Missing:
    """No value at all, which is not null."""


MISSING: Any = _Missing()


@dataclass(frozen=True)
class Origin:
    """A file in a folder and a line of it; without a file what Talos generates (`title`)."""

    file: str
    line: int | None = None
    title: str = ""
    folder: str = "patches/"

    @property
    def path(self) -> str | None:
        """The file as it lies in the checkout."""
        return f"{self.folder}{self.file}" if self.file else None

    def __str__(self) -> str:
        """`patches/all/10-hostname.yaml.j2:5`."""
        if not self.file:
            return self.title
        return f"{self.path}" if self.line is None else f"{self.path}:{self.line}"


@dataclass(frozen=True)
class Step:
    """One thing that happened to a value: it was set, or deleted (`value` is then what it was)."""

    origin: Origin
    value: Any = field(repr=False)
    deleted: bool = False


Steps = tuple[Step, ...]


@dataclass
class Mark:
    """The steps of one value; below a map or a list, those of what is in it."""

    steps: Steps = ()
    keys: dict[str, "Mark"] = field(default_factory=dict)
    items: list["Mark"] = field(default_factory=list)

    def all(self, path: Path) -> list[tuple[Path, Steps]]:
        """The steps of every scalar and empty container at this path and below."""
        if not self.keys and not self.items:
            return [(path, self.steps)]
        children: list[tuple[str | int, Mark]] = [*self.keys.items(), *enumerate(self.items)]
        return [entry for part, child in children for entry in child.all((*path, part))]


@dataclass(frozen=True)
class Cursor:
    """What a patch says at a place: its value, its node and its line; where it says nothing, the line around it."""

    value: Any = MISSING
    node: Node | None = None
    line: int | None = None

    @property
    def there(self) -> bool:
        """Whether the patch says anything here."""
        return self.value is not MISSING

    def key(self, name: str) -> "Cursor":
        """What it says of a key."""
        if not isinstance(self.value, dict) or name not in self.value:
            return Cursor(line=self.line)
        pairs = self.node.value if isinstance(self.node, MappingNode) else ()
        for key, node in pairs:
            if isinstance(key, ScalarNode) and key.value == name:
                return Cursor(self.value[name], node, line_of(key))
        return Cursor(self.value[name], None, self.line)

    def item(self, index: int) -> "Cursor":
        """What it says of an entry of a list."""
        node = self.node.value[index] if isinstance(self.node, SequenceNode) else None
        return Cursor(self.value[index], node, self.line if node is None else line_of(node))


@dataclass
class Trace:
    """Follows one document. `removed` is told of everything that goes away, with its steps."""

    release: Release
    origin: Callable[[int | None], Origin | None]
    """The origin of a line of the patch at work; None if it leaves no trace."""
    removed: Callable[[Path, Steps], None]
    earlier: Callable[[Path], Steps]
    """The steps of what stood at a path once and was deleted."""

    def follow(self, kind: Type, mark: Mark, before: Any, after: Any, at: Cursor, path: Path = ()) -> None:
        """Bring a mark from `before` to `after`, both values of `kind`."""
        if isinstance(after, dict):
            self._map(kind, mark, before if isinstance(before, dict) else {}, after, at, path)
        elif isinstance(after, list):
            self._list(kind, mark, before if isinstance(before, list) else [], after, at, path)
        if isinstance(after, dict | list) and after:
            return
        mark.keys, mark.items = {}, []
        if before is MISSING or before != after or type(before) is not type(after) or (at.there and at.value == after):
            earlier = () if before is not MISSING else self.earlier(path)
            origin = self.origin(at.line)
            if origin is not None:
                mark.steps = (*earlier, *mark.steps, Step(origin, after))

    def gone(self, mark: Mark, path: Path, line: int | None) -> None:
        """Say that all of a mark went away."""
        origin = self.origin(line)
        for place, steps in mark.all(path):
            if steps and origin is not None:
                self.removed(place, (*steps, Step(origin, steps[-1].value, deleted=True)))

    def _map(self, kind: Type, mark: Mark, before: Mapping[str, Any], after: Any, at: Cursor, path: Path) -> None:
        marks: dict[str, Mark] = {}
        for key, value in after.items():
            marks[key] = mark.keys.get(key) or Mark()
            inner, replaces = _below(kind, key, self.release)
            cursor = at.key(key)
            if replaces and isinstance(inner, ListOf) and not inner.key and cursor.there:
                inner = ListOf(inner.item, inner.item_optional, "", replaces=True)
            self.follow(inner, marks[key], before.get(key, MISSING), value, cursor, (*path, key))
        for key in mark.keys.keys() - after.keys():
            self.gone(mark.keys[key], (*path, key), at.line)
        mark.keys = marks

    def _list(self, kind: Type, mark: Mark, before: list[Any], after: list[Any], at: Cursor, path: Path) -> None:
        said = at.value if isinstance(at.value, list) else None
        pairs = pairs_of(kind, before, after, said)
        inner: Type = kind.item if isinstance(kind, ListOf) else Anything()
        marks = []
        for index, (old, new) in enumerate(pairs):
            entry = mark.items[old] if old is not None and old < len(mark.items) else Mark()
            cursor = at.item(new) if new is not None else Cursor(line=at.line)
            self.follow(inner, entry, MISSING if old is None else before[old], after[index], cursor, (*path, index))
            marks.append(entry)
        kept = {old for old, _ in pairs}
        for index, entry in enumerate(mark.items):
            if index not in kept:
                self.gone(entry, (*path, index), at.line)
        mark.items = marks


def _below(kind: Type, key: str, release: Release) -> tuple[Type, bool]:
    """The type of a key, and whether a patch replaces what is there."""
    if isinstance(kind, Struct):
        field = kind.at(release).get(key)
        return (field.type, field.replaces) if field else (Anything(), False)
    return (kind.item if isinstance(kind, MapOf) else Anything()), False
