"""What a check looks at: the patches of one node, read once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from findings import Finding, Place
from machineconfig.deletes import deletes_whole
from machineconfig.documents import Document, Entry, parse
from machineconfig.model import Patch
from machineconfig.placeholder import is_mark, shown
from machineconfig.redaction import looks_secret
from machinery.errors import ConfigError
from topology import Node, Topology

HIDDEN = "a secret value"
"""What is shown of a text in clear that looks like a secret."""


@dataclass(frozen=True)
class Part:
    """One document of one patch."""

    patch: Patch
    document: Document
    index: int = 0
    """Which of the patch's documents it is."""

    @property
    def level(self) -> str:
        """The folder of the patch: `all`, `zone/dc1`."""
        return self.patch.source.rpartition("/")[0]

    @property
    def place(self) -> str:
        """`patches/all/20-network.yaml.j2:3`, to name the other one of two."""
        return self.place_of(self.document.root)

    def place_of(self, entry: Entry) -> str:
        """The same for a value in it."""
        return f"{self.patch.file}:{self.patch.line(entry.line)}"

    @property
    def title(self) -> str:
        """The document for a message."""
        return shown(self.document.title)

    def shown(self, entry: Entry) -> str:
        """A value for a message: a mark where it is asked for, and nothing that looks like a secret in clear."""
        text = shown(entry.text)
        return HIDDEN if looks_secret(entry.path, text) and not is_mark(text) else text

    def key(self, entry: Entry) -> str:
        """The key of a value for a message."""
        return shown(str(entry.path[-1]))


@dataclass(frozen=True)
class Subject:
    """The patches of one node in the order in which they merge."""

    topology: Topology
    node: Node
    patches: Sequence[Patch]

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Every document that can be read."""
        return tuple(self._read())

    @property
    def main(self) -> Iterator[Part]:
        """The fragments of machine and cluster."""
        return (part for part in self.parts if part.document.is_main)

    @cached_property
    def typed(self) -> tuple[Part, ...]:
        """The documents with a kind that are there in the end: one that is deleted later is not."""
        found: list[Part] = []
        for part in self.parts:
            kind, name = part.document.kind, part.document.name
            if deletes_whole(part.document):
                found = [each for each in found if (each.document.kind, each.document.name) != (kind, name)]
            elif kind:
                found.append(part)
        return tuple(found)

    def fields(self, *path: str) -> Iterator[tuple[Part, Entry]]:
        """Every value that a fragment gives at a path, in order."""
        for part in self.main:
            entry = part.document.root.get(*path)
            if entry is not None:
                yield part, entry

    def of_kind(self, *kinds: str) -> Iterator[Part]:
        """The documents of some kinds."""
        return (part for part in self.typed if part.document.kind in kinds)

    def finding(
        self, part: Part, entry: Entry | None, message: str, cure: str, *, called: Entry | None = None
    ) -> Finding:
        """A finding at a value, or at the start of its document; `called` is what tells a map from others."""
        at = entry or part.document.root
        named = called or at
        place = Place(part.patch.file, part.patch.line(at.line), at.path, part.document.place, (self.node.name,))
        return Finding(place, message, cure, value=part.shown(named) if named.text else "")

    def _read(self) -> Iterator[Part]:
        for patch in self.patches:
            try:
                documents = parse(patch.text)
            except ConfigError:  # the first check says it
                continue
            yield from (Part(patch, document, index) for index, document in enumerate(documents))
