"""What comes out of a rendering: patches and findings."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from findings import Path


@dataclass(frozen=True)
class Patch:
    """One rendered file of `patches/` for one node: valid input of Talos's strategic merge.

    `source` is the file's path below `patches/`. `secrets` are the names it asked for with `secret("name")`:
    placeholders stand in the text for their values until they are put in. `lines` says which line of the
    file each line of the text came from.
    """

    source: str
    text: str = field(repr=False)
    secrets: frozenset[str] = frozenset()
    lines: tuple[int, ...] = field(default=(), repr=False)

    @property
    def is_secret(self) -> bool:
        """Whether it asks for any secret."""
        return bool(self.secrets)

    def line(self, line: int | None) -> int | None:
        """The file's line behind a line of the text; both count from 1."""
        if line is None or not self.lines:
            return line
        return self.lines[min(line, len(self.lines)) - 1]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, where, and what to do about it. `node` is empty if it is wrong for every node.

    Without a `source` it is wrong in the final configuration, and no patch can be blamed. `rule` is the id of the check
    that says it, by which it can be waived; without one it is a fault that cannot be. `value` is what stands at the
    place, never a secret one. `nodes` are the nodes by name, where `node` stands for several. `document` and `path` are
    the place in the patch or in the configuration.
    """

    node: str
    source: str
    line: int | None
    message: str
    remedy: str
    rule: str = ""
    value: str = ""
    nodes: tuple[str, ...] = ()
    document: str = field(default="", compare=False)
    path: Path = field(default=(), compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all nodes for which it is wrong; none where it is no node's own."""
        return self.nodes or ((self.node,) if self.node else ())

    @property
    def place(self) -> str:
        """The file and line, `patches/all/20-network.yaml.j2:3`, or that it is the configuration as a whole."""
        if not self.source:
            return "machine configuration"
        return f"patches/{self.source}" if self.line is None else f"patches/{self.source}:{self.line}"

    def withheld(self, message: str) -> "Finding":
        """The same place of a patch with real secrets, in words that hold none of them."""
        remedy = "give the secret a value of the form that the patch expects"
        return replace(self, message=message, remedy=remedy, value="")

    def __str__(self) -> str:
        """One line, with the place first as editors and compilers write it, and the rule last."""
        node = f" ({self.node})" if self.node else ""
        rule = f" [{self.rule}]" if self.rule else ""
        return f"{self.place}{node}: {self.message}; {self.remedy}{rule}"


def mark(key: str) -> str:
    """What stands for a secret where its value is not known."""
    return f"<secret {key}>"


def said_once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, where those that differ in the node alone become one that names up to three nodes."""
    nodes: dict[Finding, dict[str, None]] = {}
    for finding in findings:
        nodes.setdefault(replace(finding, node="", nodes=()), {}).update(dict.fromkeys(finding.names))
    return tuple(replace(finding, node=_names([*names]), nodes=tuple(names)) for finding, names in nodes.items())


def _names(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


class ConfigError(Exception):
    """Everything that is wrong with the patches of one or more nodes, all at once; `str()` is one line each."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        """Takes the findings in the order in which they are to be read."""
        self.findings = said_once(findings)
        super().__init__("\n".join(map(str, self.findings)))
