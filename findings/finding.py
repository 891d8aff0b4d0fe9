"""One thing that is wrong, the same in every room, and the exceptions that carry them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from findings.text import Path, show, written

_NAMED = 3
"""How many nodes a line names."""


@dataclass(frozen=True)
class Place:
    """Where something is wrong: as much of it as is known."""

    file: str = ""
    """Below the project's folder: ``Pulumi.lab.yaml``, ``patches/all/20-network.yaml.j2``."""
    line: int | None = None
    """From 1."""
    path: Path = ()
    """Of the value, in the stack file's topology or in the document."""
    document: str = ""
    """The document of a machine configuration: ``v1alpha1``, ``UserVolumeConfig/data``; none in a stack file."""
    nodes: tuple[str, ...] = ()
    """The names of the nodes whose configuration it is; none where it is no node's own."""

    @property
    def is_in_a_stack_file(self) -> bool:
        """Whether it is a value of a stack file, which is no document of a machine configuration."""
        return bool(self.path) and not self.document

    def __str__(self) -> str:
        """``nodes[2].address``; of a configuration ``patches/all/20-network.yaml.j2:3 (worker-01)``, with no path."""
        file = self.file if self.line is None else f"{self.file}:{self.line}"
        if self.is_in_a_stack_file:
            return f"{file}: {written(self.path)}" if file else written(self.path)
        return f"{file or 'machine configuration'}{f' ({_few(self.nodes)})' if self.nodes else ''}"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or that is worth a second look, where, and what to do about it.

    ``str()`` gives the line a person reads. No finding holds a secret, a whole document or a block of text.
    """

    place: Place
    message: str
    """What is wrong, with the value in it where that helps."""
    cure: str
    value: str = ""
    """The value alone, as text; empty where it is not there or must not be shown."""
    check: str = ""
    """The id of the check that says it, which a waiver names; empty where it cannot be waived."""
    also: tuple[Path, ...] = ()
    """More places that it rests on, such as the other one of two values that do not go together."""

    @classmethod
    def at(cls, path: Path, value: object, message: str, cure: str, also: tuple[Path, ...] = ()) -> Finding:
        """Return what is wrong with a value of a stack file's topology; ``message`` goes on after the value."""
        shown = show(value)
        place = Place(path=path or ("cluster",))
        return cls(place, f"{shown} {message}" if shown else message, cure, value=shown, also=also)

    def __str__(self) -> str:
        """One line, with the place first as editors and compilers write it, and the check last."""
        return f"{self.place}: {self.message}; {self.cure}{f' [{self.check}]' if self.check else ''}"


class FindingsError(ValueError):
    """Everything that is wrong, all at once; ``str()`` has one line for each, and none twice."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        """Take the findings in the order in which they are to be read."""
        self.findings = tuple(findings)
        super().__init__("\n".join(self.lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """One for each finding."""
        return tuple(dict.fromkeys(map(str, self.findings)))


def said_once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings, where those that differ in nothing that is said but the node become one with all nodes."""
    alike: dict[Finding, list[Finding]] = {}
    for each in findings:
        alike.setdefault(replace(each, place=Place(each.place.file, each.place.line)), []).append(each)
    return tuple(map(_together, alike.values()))


def _together(findings: list[Finding]) -> Finding:
    nodes = dict.fromkeys(node for each in findings for node in each.place.nodes)
    return replace(findings[0], place=replace(findings[0].place, nodes=tuple(nodes)))


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED + 1} more" if len(names) > _NAMED else ""
    return ", ".join(names[: _NAMED - 1] if more else names) + more
