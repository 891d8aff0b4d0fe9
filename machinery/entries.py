"""YAML as a tree of entries: each value with its place, the line of its key and its node; nothing converted."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from findings import Path
from machinery.errors import ConfigError
from machinery.indentation import indentation_fault
from machinery.problems import Problem
from machinery.yaml import MappingNode, Node, ScalarNode, SequenceNode, compose, is_merge, is_null, line


@dataclass(frozen=True)
class Entry:
    """A value in a document: where it stands, the line of its key, and its node."""

    path: Path
    line: int
    node: Node

    @property
    def text(self) -> str:
        """A scalar as it is written, without quotes; empty for anything else."""
        return str(self.node.value) if isinstance(self.node, ScalarNode) else ""

    @property
    def is_empty(self) -> bool:
        """Nothing, an empty list or an empty map."""
        return is_null(self.node) if isinstance(self.node, ScalarNode) else not self.node.value

    @cached_property
    def items(self) -> tuple["Entry", ...]:
        """The entries of a list."""
        if not isinstance(self.node, SequenceNode):
            return ()
        return tuple(Entry((*self.path, i), line(item), item) for i, item in enumerate(self.node.value))

    @cached_property
    def pairs(self) -> tuple["Entry", ...]:
        """The values of a map, each under its key, as they are written."""
        if not isinstance(self.node, MappingNode):
            return ()
        return tuple(Entry((*self.path, _key(key)), line(key), value) for key, value in self.node.value)

    @cached_property
    def keys(self) -> tuple["Entry", ...]:
        """The values of a map with what `<<` brings in."""
        if all(pair.path[-1] != "<<" for pair in self.pairs):
            return self.pairs
        own = {pair.path[-1] for pair in self.pairs}
        found: list[Entry] = []
        for pair, (key, _) in zip(self.pairs, self.node.value, strict=True):
            found += [each for each in self._merged(pair) if each.path[-1] not in own] if is_merge(key) else [pair]
        return tuple(found)

    def _merged(self, pair: "Entry") -> Iterator["Entry"]:
        for part in pair.items or (pair,):
            yield from Entry(self.path, part.line, part.node).keys

    @cached_property
    def _by_key(self) -> dict[str | int, "Entry"]:
        return {child.path[-1]: child for child in reversed(self.keys)}

    def get(self, *path: str) -> "Entry | None":
        """The value at a path of keys below this one, or None; of a key that stands there twice, the first."""
        entry: Entry | None = self
        for name in path:
            entry = entry._by_key.get(name) if entry else None
        return entry

    def listed(self, *path: str) -> tuple["Entry", ...]:
        """The entries of the list at a path of keys below this one; none where there is no list."""
        entry = self.get(*path)
        return entry.items if entry else ()

    def walk(self) -> Iterator["Entry"]:
        """This value and everything below it, in the order of the text."""
        yield self
        for child in (*self.keys, *self.items):
            yield from child.walk()


def roots(text: str) -> tuple[Entry, ...]:
    """The documents of a text, empty ones left out; raises ConfigError with one problem where it is not YAML."""
    try:
        nodes = compose(text)
    except ConfigError as error:
        raise ConfigError(_in_words(error.problems[0], text)) from None
    except Exception:  # whatever else the parser says of such a text
        raise ConfigError("cannot be read") from None
    return tuple(Entry((), line(node), node) for node in nodes if not (isinstance(node, ScalarNode) and is_null(node)))


def _in_words(problem: Problem, text: str) -> Problem:
    last = text.rstrip().count("\n") + 1  # where a text ends too early, its end is after the last line
    place = None if problem.line is None else min(problem.line, last)
    return Problem(indentation_fault(text, place) or problem.message, line=place)


def _key(node: Node) -> str:
    return str(node.value) if isinstance(node, ScalarNode) else "?"
