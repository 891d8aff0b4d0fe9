"""`$patch: delete` of something that is not there: nothing to do, where Talos's merge would fail or crash.

Talos refuses to delete a key that is absent, and the plugin that merges comes down over a document that is absent. So a
delete of a key gets a patch in front that puts an empty value there, and a delete of a document that no earlier patch
made and the contract does not generate is left out. Deletes inside lists and on a worker's missing etcd stay as they
are: `checks` speaks of them.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from findings import Path
from machineconfig.context import HOSTNAME_DOCUMENT
from machineconfig.documents import Document, Entry, parse
from machineconfig.model import Patch
from machinery.emit import dump
from machinery.errors import ConfigError
from topology import Contract

MARK, DELETE = "$patch", "delete"
PLACEHOLDERS = "# So that the deletes of the next patch find something.\n"
"""How a patch begins that is not a file's own."""


def tolerate_absent(patches: Iterable[Patch], contract: Contract) -> Iterator[Patch]:
    """The patches, each with what it deletes made to be there, and without deletes of documents that are not."""
    patches = tuple(patches)
    if not any(MARK in patch.text for patch in patches):
        yield from patches
        return
    present = {("HostnameConfig", "")} if contract >= HOSTNAME_DOCUMENT else set()
    for patch in patches:
        try:
            documents = parse(patch.text)
        except ConfigError:  # said by the checks, with its line
            yield patch
            continue
        paths = [path for document in documents if document.is_main for path in deleted_paths(document)]
        if paths:
            yield Patch(patch.source, _placeholders(paths), patch.secrets)
        absent = [each for each in documents if deletes_whole(each) and (each.kind, each.name) not in present]
        text, lines = _without(patch, documents, absent) if absent else (patch.text, patch.lines)
        for document in documents:
            change = present.discard if deletes_whole(document) else present.add
            change((document.kind, document.name))
        if len(absent) < len(documents):
            yield Patch(patch.source, text, patch.secrets, lines)


def deletes_whole(document: Document) -> bool:
    """Whether a document asks for the whole document of its kind and name to go."""
    return bool(document.kind) and _is_delete(document.root)


def deleted_paths(document: Document) -> Iterator[Path]:
    """The paths of keys that a document deletes, but for those inside lists."""
    for entry in document.root.walk():
        if entry.path and _is_delete(entry) and all(isinstance(part, str) for part in entry.path):
            yield entry.path


def _is_delete(entry: Entry) -> bool:
    mark = entry.get(MARK)
    return mark is not None and mark.text == DELETE


def _placeholders(paths: list[Path]) -> str:
    """A patch that merges nothing at the paths: a key is made where there is none, and no value is changed."""
    tree: dict[str, Any] = {}
    for *above, last in paths:
        values: Any = tree
        for part in above:
            values = values.setdefault(part, {}) if values is not None else None
        if values is not None:
            values.setdefault(last, None)
    return f"{PLACEHOLDERS}{dump([tree])}"


def _without(patch: Patch, documents: tuple[Document, ...], absent: list[Document]) -> tuple[str, tuple[int, ...]]:
    """The text without some of its documents, line for line."""
    kept: list[int] = []
    for line, owner in _owners(patch.text, documents):
        if owner not in absent:
            kept.append(line)
    rows = patch.text.split("\n")
    return "\n".join(rows[i] for i in kept), tuple(patch.line(i + 1) or 0 for i in kept)


def _owners(text: str, documents: tuple[Document, ...]) -> Iterator[tuple[int, Document | None]]:
    """Each line with the document that it belongs to; what comes before a `---` belongs to the one before."""
    rows = text.split("\n")
    starts = [0, *(i for i, row in enumerate(rows) if row.startswith("---"))]
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        owner = next((each for each in documents if start < each.root.line <= end), None)
        for line in range(start, end):
            yield line, owner
