"""Where every value of a node's configuration comes from: the files and lines that set it, in their order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from machineconfig.deletes import PLACEHOLDERS
from machineconfig.model import Patch
from machineconfig.paths import Path, leaves, title_of, value_at
from machineconfig.trace import MISSING, Cursor, Mark, Origin, Step, Steps, Trace
from machinery import GenerateArgs, contract_of
from machinery.contract import PROVIDER
from machinery.deletions import Deletion, take_deletions
from machinery.documents import V1ALPHA1_KIND, Document, top_value
from machinery.generate import base_of
from machinery.patches import Patch as Read
from machinery.patches import apply_patches, read_patch
from machinery.structure import is_named
from machinery.yaml import MappingNode, Node, SequenceNode, compose, line

_Id = tuple[str, str]
_NOBODY: Mapping[Path, Origin] = {}


@dataclass(frozen=True)
class Origins:
    """The final configuration of one node, and the steps behind each of its values."""

    documents: Mapping[str, Any] = field(repr=False)
    """The values as they are written, by the document's title."""
    removed: tuple[tuple[str, Path, Steps], ...] = field(repr=False)
    """What some patch deleted and no later one set again: document, path, and the steps, the deletion last."""
    base: Origin
    """Where everything comes from that no patch touched."""
    _marks: Mapping[str, Mark] = field(repr=False)

    def steps(self, title: str, path: Path) -> Steps:
        """The steps of one scalar, or of one empty map or list; the last is the one that counts.

        Raises LookupError where there is no such value.
        """
        value = value_at(self.documents[title], path)
        mark = self._marks.get(title)
        for part in path:
            if mark is None:
                break
            inside = isinstance(part, int) and part < len(mark.items)
            mark = mark.items[int(part)] if inside else mark.keys.get(str(part))
        # Talos writes some keys that nobody has set, as an empty list.
        return mark.steps if mark is not None and mark.steps else (Step(self.base, value),)

    def origin(self, title: str, path: Path) -> Origin | None:
        """What set a value, or deleted it; for a map or list, what set the first value in it. None: nobody did."""
        try:
            below = next(leaves(value_at(self.documents[title], path)))[0]
            return self.steps(title, (*path, *below))[-1].origin
        except LookupError:
            gone = [steps for at, place, steps in self.removed if at == title and place[: len(path)] == path]
            return gone[-1][-1].origin if gone else None

    def all(self) -> Iterator[tuple[str, Path, Any, Steps]]:
        """Every value with its steps."""
        for title, values in self.documents.items():
            for path, value in leaves(values):
                yield title, path, value, self.steps(title, path)


def origins(args: GenerateArgs, patches: Sequence[Patch], given: Mapping[Path, Origin] = _NOBODY) -> Origins:
    """Apply the patches to the base that `args` describe (its own patches do not count), and take note of each step.

    `given` says of places of the main document who gave what the base has there. Raises machinery.ConfigError for what
    Talos refuses.
    """
    return _Replay(args, given).run(patches)


class _Replay:
    """The documents as they are after some patches, with their marks."""

    def __init__(self, args: GenerateArgs, given: Mapping[Path, Origin]) -> None:
        self._lenient = args.lenient
        self._base = Origin(
            "", None, f"Talos defaults for {args.machine_type}, contract {contract_of(args.talos_version)}"
        )
        self._documents: list[Document] = base_of(args)
        self._marks: dict[_Id, Mark] = {}
        self._removed: list[tuple[str, Path, Steps]] = []
        self._patch: Patch | None = None
        for document in self._documents:
            self._follow(document.id, MISSING, Cursor())
        for path, origin in given.items():
            _give(self._marks[self._documents[0].id], path, origin)

    def run(self, patches: Sequence[Patch]) -> Origins:
        for patch in patches:
            self._patch = patch
            self._apply(patch.text)
        written = {document.title: document.written(PROVIDER) for document in self._documents if document.kind}
        marks = {document.title: self._marks[document.id] for document in self._documents if document.kind}
        return Origins(
            {title_of(values): values for values in written.values()}, tuple(self._removed), self._base, marks
        )

    def _apply(self, text: str) -> None:
        read = read_patch(text, PROVIDER, lenient=self._lenient)
        nodes = compose(text)
        if read.operations is not None:
            items = nodes[0].value if nodes and isinstance(nodes[0], SequenceNode) else []
            for index, operation in enumerate(read.operations):
                at = line(items[index]) if index < len(items) else None
                self._step(Read(operations=(operation,)), self._documents[0].id, Cursor(line=at))
            return
        roots = dict(_roots(nodes))
        for step in read.steps:
            if isinstance(step, Deletion):
                cursor = Cursor(line=step.line)
            else:
                root = roots.get(step.id)
                cursor = Cursor(step.values, root, line(root) if root is not None else None)
            self._step(Read((step,)), step.id, cursor)

    def _step(self, read: Read, target: _Id, cursor: Cursor) -> None:
        before = next((document.copy().values for document in self._documents if document.id == target), MISSING)
        self._documents = apply_patches(self._documents, [read], PROVIDER)
        self._follow(target, before, cursor)

    def _follow(self, target: _Id, before: Any, cursor: Cursor) -> None:
        document = next((document for document in self._documents if document.id == target), None)
        title = "/".join(filter(None, target))
        trace = Trace(PROVIDER, self._origin, partial(self._remove, title), partial(self._earlier, title))
        if document is None:
            trace.gone(self._marks.pop(target, Mark()), (), cursor.line)
            return
        mark = self._marks.setdefault(target, Mark())
        trace.follow(document.struct, mark, before, document.values, cursor)

    def _origin(self, at: int | None) -> Origin | None:
        if self._patch is None:
            return self._base
        if self._patch.text.startswith(PLACEHOLDERS):
            return None
        return Origin(self._patch.source, self._patch.line(at))

    def _remove(self, title: str, path: Path, steps: Steps) -> None:
        self._removed.append((title, path, steps))

    def _earlier(self, title: str, path: Path) -> Steps:
        found = next((entry for entry in self._removed if entry[:2] == (title, path)), None)
        # A place in a list is no name: what is there later need not be the same thing.
        if found is None or not all(isinstance(part, str) for part in path):
            return ()
        self._removed.remove(found)
        return found[2]


def _give(mark: Mark, path: Path, origin: Origin) -> None:
    for part in path:
        if part not in mark.keys:
            return
        mark = mark.keys[str(part)]
    mark.steps = tuple(replace(step, origin=origin) for step in mark.steps)


def _roots(nodes: list[Node]) -> Iterator[tuple[_Id, MappingNode]]:
    """The nodes of a patch's documents, without what they delete."""
    for node in nodes:
        _, emptied = take_deletions(node)
        if isinstance(node, MappingNode) and not emptied:
            kind = top_value(node, "kind") or V1ALPHA1_KIND
            yield (kind, top_value(node, "name") if is_named(kind) else ""), node
