"""The patches of one node: the files of its levels, rendered, in the order in which Talos merges them."""

import re
from dataclasses import dataclass
from pathlib import Path

from findings import Finding, Place, said_once
from machineconfig.bounds import RefusedError
from machineconfig.context import context
from machineconfig.deletes import tolerate_absent
from machineconfig.levels import levels
from machineconfig.model import Patch, in_patches
from machineconfig.placeholder import placeholder
from machineconfig.sources import Sources
from machineconfig.templates import TemplateFaultError, render
from topology import Node, Topology

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""The name of a secret: a key that needs no quotes, neither in a shell nor in the stack file."""
_SAME: tuple[int, ...] = ()
"""The lines of a text that is the file itself."""


def render_what_can_be(topology: Topology, *, root: Path) -> tuple[dict[str, tuple[Patch, ...]], tuple[Finding, ...]]:
    """The patches of the nodes that can be rendered from the files below `root`, by the nodes' names.

    With them what is wrong with the other nodes and with stray files; what is wrong for several is said once.
    """
    patches: dict[str, tuple[Patch, ...]] = {}
    findings: list[Finding] = []
    sources = Sources(root)
    for node in topology.nodes:
        rendered = render_node(topology, node, sources)
        findings += rendered.findings
        if not rendered.faults:
            patches[node.name] = rendered.patches
    return patches, said_once(findings)


@dataclass(frozen=True)
class Rendered:
    """What one node gets, the stray files in its levels, and what is wrong with the files that it gets."""

    patches: tuple[Patch, ...]
    misplaced: tuple[Finding, ...]
    faults: tuple[Finding, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is wrong."""
        return (*self.misplaced, *self.faults)


def render_node(topology: Topology, node: Node, sources: Sources) -> Rendered:
    """The patches of a node, the widest level first; later ones win.

    Placeholders take the place of the secrets that they ask for. Files that render to nothing or to comments alone are
    left out: Talos takes an empty patch for an error.
    """
    misplaced: list[Finding] = list(sources.findings)
    faults: list[Finding] = []
    patches: list[Patch] = []
    values = context(topology, node)
    for folder in levels(topology, node):
        misplaced.extend(sources.findings_in(folder))
        for path, source in sources.files(folder):
            try:
                patches.append(_Template(sources, path, source).patch(values))
            except TemplateFaultError as fault:
                sources.note(path, fault)
                place = Place(in_patches(source), fault.line, nodes=(node.name,))
                faults.append(Finding(place, fault.message, fault.cure))
    said = (patch for patch in patches if _says_something(patch.text))
    return Rendered(tuple(tolerate_absent(said, topology.versions.contract)), tuple(misplaced), tuple(faults))


class _Template:
    """One file for one node, and the names of the secrets that it asks for on the way."""

    def __init__(self, sources: Sources, path: Path, source: str) -> None:
        self._sources, self._path, self._source = sources, path, source
        self._asked: set[str] = set()

    def patch(self, values: dict[str, object]) -> Patch:
        text, lines = self._sources.text(self._path), _SAME
        if self._path.suffix == ".j2":
            extra = {"secret": self.secret, "include": self._sources.included}
            self._sources.check(self._path)
            text, lines = render(text, self._source, {**values, **extra})
        # Talos takes a patch of one word without a line's end for the name of a file.
        text = text if text.endswith("\n") else f"{text}\n"
        return Patch(self._source, text, frozenset(self._asked), lines)

    def secret(self, name: str) -> str:
        if not isinstance(name, str) or not name:
            raise RefusedError("asks for a secret without naming it", 'write secret("name")')
        if not _KEY.fullmatch(name):
            cure = "use letters, digits, - and _, and begin with a letter"
            raise RefusedError(f"asks for the secret {name!r}, which cannot be a configuration key", cure)
        self._asked.add(name)
        return placeholder(name)


def _says_something(text: str) -> bool:
    """Whether there is anything but comments, blank lines and document marks."""
    return any(line.strip() and not line.lstrip().startswith("#") and not _is_mark(line) for line in text.splitlines())


def _is_mark(line: str) -> bool:
    return line.rstrip() in ("---", "...")
