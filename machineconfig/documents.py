"""Rendered YAML as Talos reads it: documents with kind, name and lines. YAML 1.2; nothing converted, nothing lost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from machinery.documents import V1ALPHA1_KIND
from machinery.entries import Entry, roots
from machinery.yaml import MappingNode


@dataclass(frozen=True)
class Document:
    """One document. Without a kind it is part of the main one, `v1alpha1`."""

    root: Entry
    kind: str
    name: str

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Every value in it, in the order of the text."""
        return tuple(self.root.walk())

    @cached_property
    def duplicate_keys(self) -> tuple[tuple[Entry, int], ...]:
        """Every key that its map has had before, with the line of the first."""
        return tuple(_duplicate_keys(self.entries))

    @property
    def is_mapping(self) -> bool:
        """Whether it can be a strategic merge patch at all."""
        return isinstance(self.root.node, MappingNode)

    @property
    def is_main(self) -> bool:
        """Whether it is a fragment of machine and cluster."""
        return self.is_mapping and not self.kind

    @property
    def place(self) -> str:
        """`UserVolumeConfig/data`, as the configuration calls it."""
        return "/".join(filter(None, (self.kind, self.name))) or V1ALPHA1_KIND

    @property
    def title(self) -> str:
        """`UserVolumeConfig data`, for messages."""
        return f"{self.kind} {self.name}".strip() if self.kind else "machine and cluster"


@lru_cache(maxsize=512)
def parse(text: str) -> tuple[Document, ...]:
    """The documents of a text, empty ones left out; raises ConfigError with one problem where it is not YAML."""
    return tuple(map(_document, roots(text)))


def _duplicate_keys(entries: Iterable[Entry]) -> Iterator[tuple[Entry, int]]:
    for entry in entries:
        first: dict[str | int, int] = {}
        for child in entry.pairs:
            if child.path[-1] in first:
                yield child, first[child.path[-1]]
            first.setdefault(child.path[-1], child.line)


def _document(root: Entry) -> Document:
    kind, name = root.get("kind"), root.get("name")
    return Document(root, kind.text if kind else "", name.text if kind and name else "")
