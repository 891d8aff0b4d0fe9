"""Config patches: strategic merge patches of one or more documents, and JSON patches.

A patch is read once and kept by its text, since the same patch goes to many nodes.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from machinery import emit, jsonpatch
from machinery.deletions import Deletion, delete, take_deletions
from machinery.documents import V1ALPHA1_KIND, Document, check_together, in_order, leftover, read_documents
from machinery.errors import ConfigError
from machinery.merge import merge
from machinery.structure import Release
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
    for patch in patches:
        if patch.operations is not None:
            documents = _json(documents, list(patch.operations), release)
        else:
            documents = _merge(documents, patch, release)
    return documents


def _missing(deletion: Deletion) -> Document:
    """Return what Talos leaves for a deletion that finds no document; where the deletion has a name, Talos crashes."""
    if deletion.name:
        title = f"{deletion.kind}/{deletion.name}"
        raise ConfigError(f"line {deletion.line}: $patch: delete finds no document {title} in the configuration")
    return leftover()


def _json(documents: list[Document], operations: list[jsonpatch.Operation], release: Release) -> list[Document]:
    if len(documents) != 1:
        raise ConfigError("a JSON patch cannot change a configuration of several documents: write it as a merge patch")
    changed = jsonpatch.apply(documents[0].written(release), operations)
    return read_documents(compose(emit.dump([changed])), release)


def _merge(documents: list[Document], patch: Patch, release: Release) -> list[Document]:
    documents = list(documents)
    for step in patch.steps:
        target = next((document for document in documents if document.id == step.id), None)
        if isinstance(step, Deletion):
            if target is None:
                documents.append(_missing(step))
            elif delete(step, target, release):
                documents.remove(target)
        elif target is None:
            documents.append(step.copy())
        else:
            merge(target.struct, target.values, step.values, release)
    check_together(documents)
    return in_order(documents)
