"""The documents of a machine configuration: reading a text into them, and writing them.

One v1alpha1 document and any number of typed ones, told apart by kind and name.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from machinery import emit
from machinery.decode import Reading, decode
from machinery.encode import encode
from machinery.errors import ConfigError
from machinery.problems import Problem
from machinery.structure import CONFLICTS, DOCUMENTS, V1ALPHA1, Release, Struct, is_named
from machinery.values import copied
from machinery.yaml import MappingNode, Node, ScalarNode, line

V1ALPHA1_KIND = "v1alpha1"
_LEGACY_KEYS = frozenset(("machine", "cluster", "debug", "persist"))


@dataclass
class Document:
    """One document: its kind (`v1alpha1` for the one with machine and cluster), its structure and its values.

    `uncopyable` says that it holds what Talos cannot copy, so that no patch may follow. `leftover` is for what stays of
    a deletion that finds no document: Talos writes an empty document, or ends with `refusal`, unless it is deleted too.
    """

    kind: str
    struct: Struct
    values: dict[str, Any] = field(repr=False)
    uncopyable: bool = False
    leftover: tuple[str, ...] = ()
    refusal: Problem | None = None

    @property
    def name(self) -> str:
        """The name of a document of a kind that has names, otherwise nothing."""
        return str(self.values.get("name", "")) if is_named(self.kind) else ""

    @property
    def id(self) -> tuple[str, str]:
        """What tells this document from others."""
        return self.kind, self.name

    @property
    def title(self) -> str:
        """The document's name in messages."""
        return f"{self.kind}/{self.name}" if self.name else self.kind

    def copy(self) -> "Document":
        """A document with values of its own."""
        return replace(self, values=copied(self.values))

    def written(self, release: Release) -> dict[str, Any]:
        """The document as it is written by a release; raises ConfigError for what Talos cannot write."""
        if self.refusal:
            raise ConfigError(self.refusal)
        return encode(self.struct, self.values, release)


def top_value(node: MappingNode, key: str) -> str:
    """Return the text of a key at the top of a document, or nothing."""
    for name, value in node.value:
        if isinstance(name, ScalarNode) and name.value == key:
            return str(value.value) if isinstance(value, ScalarNode) else ""
    return ""


def read_documents(nodes: list[Node], release: Release, *, lenient: bool = False) -> list[Document]:
    """Return the documents of a text's nodes; raise ConfigError for the first that Talos refuses.

    A `lenient` reader leaves out keys that Talos does not know and values of the wrong type.
    """
    documents: list[Document] = []
    seen: set[tuple[str, str, str]] = set()
    for node in nodes:
        if isinstance(node, ScalarNode) and node.value in ("", "~", "null", "Null", "NULL"):
            continue
        if not isinstance(node, MappingNode):
            raise ConfigError(Problem("a document must be a map", line=line(node)))
        identity = (top_value(node, "apiVersion"), top_value(node, "kind") or V1ALPHA1_KIND, top_value(node, "name"))
        if identity in seen:
            title = "/".join(filter(None, identity[1:]))
            raise ConfigError(Problem(f"a second document {title} in one text", line=line(node)))
        seen.add(identity)
        documents.append(_read(node, release, lenient))
    return documents


def _read(node: MappingNode, release: Release, lenient: bool) -> Document:
    kind, version = top_value(node, "kind"), top_value(node, "apiVersion")
    if any(isinstance(key, ScalarNode) and key.value in _LEGACY_KEYS for key, _ in node.value):
        version = V1ALPHA1_KIND
    struct = _struct(kind, version, node, release)
    reading = Reading(release)
    values = decode(struct, node, (), reading)
    document = Document(kind or V1ALPHA1_KIND, struct, values, reading.uncopyable)
    try:
        if not lenient:
            reading.finish()
    except ConfigError as error:
        raise error.under(kind or "v1alpha1 document", document.title if kind else "") from None
    return document


def _struct(kind: str, version: str, node: MappingNode, release: Release) -> Struct:
    where = f"the document at line {line(node)}"
    if version == V1ALPHA1_KIND and not kind:
        return V1ALPHA1
    if not kind:
        raise ConfigError(f"{where} has no kind")
    if not version:
        raise ConfigError(f"{where} has no apiVersion")
    struct = DOCUMENTS.get(kind)
    if struct is None or version != V1ALPHA1_KIND:
        raise ConfigError(f"{where}: Talos knows no document of kind {kind} and apiVersion {version}")
    if release < struct.since:
        raise ConfigError(
            f"{where}: documents of kind {kind} are known since Talos {struct.since[0]}.{struct.since[1]} only"
        )
    return struct


def check_together(documents: list[Document]) -> None:
    """Raise ConfigError where documents stand twice or exclude each other."""
    seen: set[tuple[str, str]] = set()
    for document in documents:
        if not document.kind:
            continue
        if document.id in seen:
            raise ConfigError(f"{document.title} stands twice")
        for kind in CONFLICTS.get(document.kind, ()):
            if (kind, document.name) in seen:
                raise ConfigError(f"{document.title} and {kind}/{document.name} exclude each other")
        seen.add(document.id)


def in_order(documents: list[Document]) -> list[Document]:
    """Return the documents with the v1alpha1 one first."""
    return sorted(documents, key=lambda document: document.kind != V1ALPHA1_KIND)


def write_documents(documents: list[Document], release: Release) -> str:
    """Return the text of documents, the v1alpha1 one first."""
    return emit.dump([document.written(release) for document in in_order(documents)])
