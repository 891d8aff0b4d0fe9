"""Config patches: strategic merge patches of one or more documents, and JSON patches.

A patch is read once and kept by its text, since the same patch goes to many nodes.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

from machinery import emit, jsonpatch
from machinery.deletions import Deletion, delete, take_deletions
from machinery.documents import V1ALPHA1_KIND, Document, check_together, in_order, read_documents
from machinery.errors import ConfigError
from machinery.merge import merge
from machinery.problems import Problem
from machinery.structure import Release, Struct, is_named
from machinery.yaml import Node, compose, value_of


@dataclass(frozen=True)
class Patch:
    """What a patch does: documents to merge and deletions, in order, or the operations of a JSON patch."""

    steps: tuple[Document | Deletion, ...] = field(default=(), repr=False)
    operations: tuple[jsonpatch.Operation, ...] | None = field(default=None, repr=False)


@lru_cache(maxsize=512)
def read_patch(text: str, release: Release, *, lenient: bool = False) -> Patch:
    """Return a patch; raise ConfigError for what Talos's reader refuses, or a `lenient` one cannot do without."""
    if text.startswith("@") or not (any(c in text for c in "\n ") or text.startswith(("[", "{"))):
        # The text itself may be secret, so it is not shown.
        what = "a patch without a space or a newline" if text else "an empty patch"
        raise ConfigError(f"{what} is taken for a file name, and there is no such file")
    try:
        nodes = compose(text)
        return _strategic(nodes, release, lenient)
    except ConfigError as error:
        operations = _operations(text)
        if operations is None:
            raise error from None
        return Patch(operations=tuple(operations))


def _operations(text: str) -> list[jsonpatch.Operation] | None:
    try:
        nodes = compose(text)
        fallback = value_of(nodes[0]) if nodes else None
    except ConfigError:
        fallback = text
    return jsonpatch.read_operations(text, fallback)


def _strategic(nodes: list[Node], release: Release, lenient: bool) -> Patch:
    kept: list[Node] = []
    deletions: list[tuple[int, Deletion]] = []
    for node in nodes:
        found, emptied = take_deletions(node)
        deletions.extend((len(kept), deletion) for deletion in found)
        if not emptied:
            kept.append(node)
    documents = read_documents(kept, release, lenient=lenient)
    check_together(documents)
    if not documents and not deletions:
        raise ConfigError("the patch holds no document")
    # A deletion goes before the document it stands in, and those of the v1alpha1 document before everything.
    placed: list[tuple[int, int, Document | Deletion]] = [(at, 1, document) for at, document in enumerate(documents)]
    placed.extend((at, 0, deletion) for at, deletion in deletions)
    placed.sort(key=_place)
    return Patch(tuple(step for _, _, step in placed))


def _place(step: tuple[int, int, Document | Deletion]) -> tuple[int, int, int]:
    at, rank, what = step
    return (0, rank, at) if what.kind == V1ALPHA1_KIND else (1, at, rank)


def apply_patches(documents: list[Document], patches: list[Patch], release: Release) -> list[Document]:
    """Return the documents with the patches applied in order. The documents given are changed; patches are not."""
    for is_json, group in groupby(patches, key=lambda patch: patch.operations is not None):
        if is_json:
            # Talos makes one of JSON patches that follow each other, and reads the result of the last.
            documents = _json(documents, [each for patch in group for each in patch.operations or ()], release)
        else:
            for patch in group:
                documents = _merge(documents, patch, release)
    return documents


def _json(documents: list[Document], operations: list[jsonpatch.Operation], release: Release) -> list[Document]:
    if len(documents) != 1:
        raise ConfigError("a JSON patch cannot change a configuration of several documents: write it as a merge patch")
    changed = jsonpatch.apply(documents[0].written(release), operations)
    return read_documents(compose(emit.dump([changed])), release)


def _merge(documents: list[Document], patch: Patch, release: Release) -> list[Document]:
    if any(document.uncopyable for document in documents):
        raise ConfigError(
            "a date, or a map with keys that are no text, cannot stand before another patch: put it in quotes"
        )
    known, documents = list(documents), list(documents)
    for step in patch.steps:
        target = next((document for document in reversed(known) if _is_for(step, document)), None)
        if isinstance(step, Deletion):
            if target is None or (target.leftover and step.path):
                documents.append(_leftover(step))
            elif target.leftover or delete(step, target, release):
                known, documents = ([each for each in group if each is not target] for group in (known, documents))
        elif target is None:
            documents.append(step.copy())
        elif target.leftover:
            raise ConfigError(f"{step.title} was deleted by an earlier patch, when there was none")
        else:
            merge(target.struct, target.values, step.values, release)
            target.uncopyable = step.uncopyable
    check_together(documents)
    return in_order(documents)


def _is_for(step: Document | Deletion, document: Document) -> bool:
    """Tell whether a step is about a document: Talos compares apiVersion, kind and name."""
    if document.leftover:
        return document.leftover == _identity(step)
    if isinstance(step, Deletion) and step.kind != V1ALPHA1_KIND:
        named = is_named(step.kind)
        return document.id == step.id and step.api_version == V1ALPHA1_KIND and bool(step.name) == named
    return document.id == step.id


def _identity(step: Document | Deletion) -> tuple[str, ...]:
    if isinstance(step, Deletion):
        return step.api_version, step.kind, *filter(None, (step.name,))
    return V1ALPHA1_KIND, step.kind, *((step.name,) if is_named(step.kind) else ())


def _leftover(step: Deletion) -> Document:
    """Return what a deletion leaves that finds no document; where it has a name, Talos cannot write that."""
    if step.path and step.kind == V1ALPHA1_KIND:
        message = f"$patch: delete finds no {'.'.join(step.path)} in the configuration"
        raise ConfigError(Problem(message, line=step.line))
    title = f"{step.kind}/{step.name}"
    message = f"$patch: delete finds no document {title} in the configuration"
    refusal = Problem(message, line=step.line) if step.name else None
    return Document("", Struct(""), {}, leftover=_identity(step), refusal=refusal)
