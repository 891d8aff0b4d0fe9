"""A stack file for the commands: its topology without secrets, and the lines that faults are about.

Encrypted values stay encrypted: there is a mark in their place.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import findings
import stackfile
from cli.errors import CliError
from engine import PROJECT
from findings import Finding
from machineconfig.model import mark
from stackfile import KEYS


@dataclass(frozen=True)
class StackFile:
    """One stack file. `config` has the project's keys without its name; encrypted values in it are marks."""

    name: str
    path: Path
    config: Mapping[str, Any] = field(repr=False)
    faults: tuple[Finding, ...] = ()
    """Values of the topology that the engine takes for something else than is written."""
    strange: tuple[str, ...] = ()
    """Keys beside `config` that the engine does not know."""
    lines: Mapping[findings.Path, int] = field(default_factory=dict, repr=False)
    """The lines of the file's and the project's keys, and of the topology's values by their places."""
    has_environment: bool = False
    """Whether more of its configuration comes from elsewhere, an environment of Pulumi's."""

    @property
    def cluster(self) -> Any:
        """The topology as it is in the file; raises CliError where the engine would read another one."""
        if self.faults:
            raise CliError(self.told(self.faults))
        return self.config["cluster"]

    @property
    def folder(self) -> Path:
        """The checkout."""
        return self.path.parent

    @property
    def patches(self) -> Path:
        """The patches."""
        return self.folder / "patches"

    def located(self, finding: Finding) -> Finding:
        """A finding of this file with the line of what it is about, or of the nearest thing around it."""
        if not finding.place.is_in_a_stack_file:
            return finding
        place = replace(finding.place, file=self.path.name, line=self.line_of(finding.place.path))
        return replace(finding, place=place)

    def told(self, findings: Iterable[Finding]) -> str:
        """A line for each finding, with its place."""
        return "\n".join(str(self.located(each)) for each in findings)

    def line_of(self, path: findings.Path) -> int | None:
        """The line of a value of the topology, or of the nearest thing around it."""
        if str(path[0]).startswith(f"{PROJECT}:"):
            return self.lines.get(path)
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path or ("cluster",))


def read(name: str, folder: Path) -> StackFile:
    """Read `Pulumi.<name>.yaml` in a folder; raises CliError where there is none, and StackFileError."""
    try:
        written = stackfile.read(name, folder)
    except stackfile.NoStackError as error:
        raise CliError(str(error)) from None
    if "cluster" not in written.config:
        raise stackfile.without_cluster(written)
    encrypted = next(_encrypted(written.config["cluster"], "cluster"), None)
    if encrypted:
        message = (
            f"{encrypted} is encrypted, which would make a secret of the whole topology; set the value as"
            ' a key of its own (`pulumi config set --secret`) and ask for it in a patch with secret("key")'
        )
        line = written.lines[(stackfile.CLUSTER,)]
        raise stackfile.StackFileError(written.path.name, line, message)
    return StackFile(
        name,
        written.path,
        {key: _marked(value, key) for key, value in written.config.items()},
        written.misread,
        tuple(key for key in written.top if key not in KEYS),
        written.lines,
        "environment" in written.top,
    )


def _is_encrypted(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"secure"}


def _encrypted(value: Any, path: str) -> Iterator[str]:
    if _is_encrypted(value):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _encrypted(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _encrypted(item, f"{path}[{index}]")


def _marked(value: Any, key: str) -> Any:
    if _is_encrypted(value):
        return mark(key)
    if isinstance(value, dict):
        return {name: _marked(item, key) for name, item in value.items()}
    return [_marked(item, key) for item in value] if isinstance(value, list) else value
