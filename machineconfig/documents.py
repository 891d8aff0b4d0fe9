"""Rendered YAML as Talos reads it: documents with kind, name and lines. YAML 1.2; nothing converted, nothing lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

NULL = "tag:yaml.org,2002:null"
Path = tuple[str | int, ...]
_LARGEST = 100_000


class YamlFaultError(Exception):
    """Text that is not YAML; `line` counts from 1. The message quotes nothing of the text."""

    def __init__(self, line: int | None, message: str) -> None:
        """`message` follows the place."""
        super().__init__(message)
        self.line, self.message = line, message


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
        return self.node.tag == NULL if isinstance(self.node, ScalarNode) else not self.node.value

    @cached_property
    def items(self) -> tuple["Entry", ...]:
        """The entries of a list."""
        if not isinstance(self.node, SequenceNode):
            return ()
        return tuple(Entry((*self.path, i), _line(item), item) for i, item in enumerate(self.node.value))

    @cached_property
    def keys(self) -> tuple["Entry", ...]:
        """The values of a map, each under its key."""
        if not isinstance(self.node, MappingNode):
            return ()
        return tuple(Entry((*self.path, _key(key)), _line(key), value) for key, value in self.node.value)

    def get(self, *path: str) -> "Entry | None":
        """The value at a path of keys below this one, or None."""
        entry: Entry | None = self
        for name in path:
            entry = next((child for child in entry.keys if child.path[-1] == name), None) if entry else None
        return entry

    def walk(self) -> Iterator["Entry"]:
        """This value and everything below it, in the order of the text."""
        yield self
        for child in (*self.keys, *self.items):
            yield from child.walk()


@dataclass(frozen=True)
class Document:
    """One document. Without a kind it is part of the main one, `v1alpha1`. Lines count from 1."""

    root: Entry
    line: int
    kind: str
    name: str

    @property
    def is_mapping(self) -> bool:
        """Whether it can be a strategic merge patch at all."""
        return isinstance(self.root.node, MappingNode)

    @property
    def is_main(self) -> bool:
        """Whether it is a fragment of machine and cluster."""
        return self.is_mapping and not self.kind

    @property
    def title(self) -> str:
        """`UserVolumeConfig data`, for messages."""
        return f"{self.kind} {self.name}".strip() if self.kind else "machine and cluster"


@lru_cache(maxsize=4096)
def parse(text: str) -> tuple[Document, ...]:
    """The documents of a text, empty ones left out. Raises YamlFaultError."""
    try:
        reader = YAML(typ="safe", pure=True)
        reader.composer.warn_double_anchors = False  # the warning would quote the text
        nodes = list(reader.compose_all(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = " ".join(part for part in (error.context, error.problem) if part) or "cannot be read"
        last = text.rstrip().count("\n")  # where a text ends too early, its end is after the last line
        raise YamlFaultError(min(mark.line, last) + 1 if mark else None, message) from None
    except RecursionError:
        raise YamlFaultError(None, "is nested too deeply") from None
    except Exception:  # whatever else the parser says of such a text
        raise YamlFaultError(None, "cannot be read") from None
    for node in nodes:
        if node is not None and _size(node, {}) > _LARGEST:
            raise YamlFaultError(_line(node), f"has anchors that make more than {_LARGEST} values of it")
    return tuple(_document(node) for node in nodes if node is not None and not _is_null(node))


def duplicate_keys(document: Document) -> Iterator[tuple[Entry, int]]:
    """Every key that its map has had before, with the line of the first."""
    for entry in document.root.walk():
        first: dict[str | int, int] = {}
        for child in entry.keys:
            if child.path[-1] in first:
                yield child, first[child.path[-1]]
            first.setdefault(child.path[-1], child.line)


def dotted(path: Path) -> str:
    """`machine.network.interfaces[0].addresses`, for messages."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _document(node: Node) -> Document:
    root = Entry((), _line(node), node)
    kind, name = root.get("kind"), root.get("name")
    return Document(root, _line(node), kind.text if kind else "", name.text if kind and name else "")


def _size(node: Node, known: dict[int, int]) -> int:
    """How many values a node is once every alias is followed; more than _LARGEST if it holds itself."""
    if id(node) not in known:
        known[id(node)] = _LARGEST + 1
        children = [child for pair in node.value for child in pair] if isinstance(node, MappingNode) else node.value
        below = sum(_size(child, known) for child in children) if not isinstance(node, ScalarNode) else 0
        known[id(node)] = min(1 + below, _LARGEST + 1)
    return known[id(node)]


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.tag == NULL


def _key(node: Node) -> str:
    return str(node.value) if isinstance(node, ScalarNode) else "?"


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1
