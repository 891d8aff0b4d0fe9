"""The patches of one node: the files of its levels, rendered, in the order in which Talos merges them."""

from collections.abc import Callable, Mapping
from pathlib import Path

from machineconfig.context import context
from machineconfig.deletes import tolerate_absent
from machineconfig.levels import check_folder, check_root, files, levels
from machineconfig.model import ConfigError, Facts, Finding, Patch, said_once
from machineconfig.templates import RefusedError, TemplateFaultError, render
from topology import Node, Topology

Secret = Callable[[str], str]

_SAME: tuple[int, ...] = ()
"""The lines of a text that is the file itself."""


def render_node(
    topology: Topology, node: Node, facts: Facts, *, root: Path, secret: Secret | None = None
) -> tuple[Patch, ...]:
    """The patches of a node from the files below `root`, the widest level first; later ones win.

    `secret` gives the value of `secret("name")` and raises LookupError for a name that it does not know. Files that
    render to nothing or to comments alone are left out, because Talos takes an empty patch for an error.
    Raises ConfigError with everything that is wrong for this node.
    """
    findings: list[Finding] = list(check_root(root))
    patches: list[Patch] = []
    for folder in levels(topology, node):
        findings.extend(check_folder(root, folder))
        for path in files(root, folder):
            try:
                patches.append(_Rendering(root, path, secret or _no_secrets).patch(context(topology, node, facts)))
            except TemplateFaultError as fault:
                source = path.relative_to(root).as_posix()
                findings.append(Finding(node.name, source, fault.line, fault.message, fault.remedy))
    if findings:
        raise ConfigError(findings)
    return tuple(
        tolerate_absent((patch for patch in patches if _says_something(patch.text)), topology.versions.contract)
    )


def render_cluster(
    topology: Topology, facts: Mapping[str, Facts], *, root: Path, secret: Secret | None = None
) -> dict[str, tuple[Patch, ...]]:
    """The patches of every node by name, as `render_node` makes them.

    Raises ConfigError with everything that is wrong for any node; what is wrong for several is said once.
    """
    patches, findings = render_what_can_be(topology, facts, root=root, secret=secret)
    if findings:
        raise ConfigError(findings)
    return patches


def render_what_can_be(
    topology: Topology, facts: Mapping[str, Facts], *, root: Path, secret: Secret | None = None
) -> tuple[dict[str, tuple[Patch, ...]], tuple[Finding, ...]]:
    """The patches of the nodes that can be rendered, and what is wrong with the others."""
    patches: dict[str, tuple[Patch, ...]] = {}
    findings: list[Finding] = []
    for node in topology.nodes:
        try:
            patches[node.name] = render_node(topology, node, facts[node.name], root=root, secret=secret)
        except ConfigError as error:
            findings.extend(error.findings)
    return patches, said_once(findings)


class _Rendering:
    """One file for one node, and the names of the secrets that it asks for on the way."""

    def __init__(self, root: Path, path: Path, secret: Secret) -> None:
        self._root, self._path, self._secret = root.resolve(), path, secret
        self._source = path.relative_to(root).as_posix()
        self._asked: set[str] = set()

    def patch(self, values: dict[str, object]) -> Patch:
        text, lines = _read(self._path), _SAME
        if self._path.suffix == ".j2":
            text, lines = render(text, self._source, {**values, "secret": self.secret, "include": self.include})
        # Talos takes a patch of one word without a line's end for the name of a file.
        text = text if text.endswith("\n") else f"{text}\n"
        return Patch(self._source, text, frozenset(self._asked), lines)

    def secret(self, name: str) -> str:
        self._asked.add(name)
        try:
            return self._secret(name)
        except LookupError:
            remedy = f"set it with `pulumi config set --secret {name}`"
            raise RefusedError(f"asks for a secret that the stack does not have: {name}", remedy) from None

    def include(self, name: str) -> str:
        """A file below `patches/` as it stands: nothing in it is rendered or expanded."""
        path = (self._root / name).resolve()
        if not path.is_relative_to(self._root):
            raise RefusedError(f"includes a file outside patches/: {name}", "move the file to patches/manifests/")
        if not path.is_file():
            remedy = f"there is {', '.join(_near(self._root, name)) or 'nothing to include'} below patches/"
            raise RefusedError(f"includes a file that does not exist: {name}", remedy)
        return _read(path).rstrip("\n")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise TemplateFaultError(None, "is not UTF-8 text", "save it as UTF-8") from None


def _near(root: Path, name: str) -> list[str]:
    folder = (root / name).parent
    return sorted(path.relative_to(root).as_posix() for path in folder.glob("*") if path.is_file())[:5]


def _says_something(text: str) -> bool:
    """Whether there is anything but comments, blank lines and document marks."""
    return any(line.strip() and not line.lstrip().startswith("#") and not _is_mark(line) for line in text.splitlines())


def _is_mark(line: str) -> bool:
    return line.rstrip() in ("---", "...")


def _no_secrets(name: str) -> str:
    raise LookupError(name)
