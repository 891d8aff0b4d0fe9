"""Reads a stack file as it lies there, without an engine, credentials or a passphrase.

Encrypted values stay encrypted: a mark stands in their place.
"""

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli.errors import CliError
from cli.pulumiyaml import Reader, keys_of
from machineconfig.documents import Document, Entry, YamlFaultError, parse
from machineconfig.model import mark
from machinery.yaml import MappingNode
from topology import Fault

PROJECT = "talos-stacks"
CLUSTER = f"{PROJECT}:cluster"
KEYS = ("config", "environment", "secretsprovider", "encryptedkey", "encryptionsalt")
"""What the engine reads of a stack file."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
"""What the engine and the lab take for the name of a stack."""


class StackFileError(CliError):
    """A file that cannot be read as a stack file; `line` counts from 1."""

    def __init__(self, file: str, line: int | None, message: str) -> None:
        """`message` follows the place."""
        super().__init__(f"{file}: {message}" if line is None else f"{file}:{line}: {message}")
        self.file, self.line, self.message = file, line, message


@dataclass(frozen=True)
class StackFile:
    """One stack file. `config` has the project's keys without its name; encrypted values in it are marks."""

    name: str
    path: Path
    config: Mapping[str, Any] = field(repr=False)
    secrets: frozenset[str]
    """The keys that are encrypted."""
    faults: tuple[Fault, ...] = ()
    """Values of the topology that the engine takes for something else than is written."""
    strange: tuple[str, ...] = ()
    """Keys beside `config` that the engine does not know."""
    lines: Mapping[str, int] = field(default_factory=dict, repr=False)
    """The lines of the file's and the project's keys, and of the topology's values by their places."""
    has_environment: bool = False
    """Whether more of its configuration comes from elsewhere, an environment of Pulumi's."""

    @property
    def cluster(self) -> Any:
        """The topology as it stands in the file; raises CliError where the engine would read another one."""
        if self.faults:
            raise CliError(self.located(self.faults))
        return self.config["cluster"]

    @property
    def folder(self) -> Path:
        """The checkout."""
        return self.path.parent

    @property
    def patches(self) -> Path:
        """The patches."""
        return self.folder / "patches"

    def place(self, fault: Fault) -> str:
        """`Pulumi.lab.yaml:12`: the line of what a fault is about, or of the nearest thing around it."""
        line = self.line(fault)
        return self.path.name if line is None else f"{self.path.name}:{line}"

    def located(self, faults: Iterable[Fault]) -> str:
        """A line for each fault, with its place."""
        return "\n".join(f"{self.place(fault)}: {fault}" for fault in faults)

    def line(self, fault: Fault) -> int | None:
        """The line alone."""
        return self.line_of(fault.path)

    def line_of(self, path: str) -> int | None:
        """The line of a value of the topology, or of the nearest thing around it."""
        if path.startswith(f"{PROJECT}:"):
            return self.lines.get(path)
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines.get(path or "cluster")


def stacks(folder: Path) -> tuple[str, ...]:
    """The names of the stacks that have a file in a folder."""
    names = (path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in folder.glob("Pulumi.*.yaml"))
    return tuple(sorted(filter(None, names)))


def read(name: str, folder: Path) -> StackFile:
    """Read `Pulumi.<name>.yaml` in a folder; raises CliError where there is none, StackFileError where it is none."""
    path = folder / f"Pulumi.{name}.yaml"
    if "/" in name or not os.path.lexists(path):
        raise CliError(f"there is no stack {name} in {folder}; there are: {', '.join(stacks(folder)) or 'none'}")
    if not _NAME.fullmatch(name):
        raise StackFileError(path.name, None, f"{name!r} is no name of a stack: take letters, digits, -, _ and .")
    try:
        if not path.is_file():
            raise StackFileError(path.name, None, _no_file(path))
        return _read(name, path)
    except OSError as error:
        raise StackFileError(path.name, None, f"cannot be read: {error.strerror}") from None
    except YamlFaultError as error:
        raise StackFileError(path.name, error.line, f"is not YAML: {error.message}") from None


def _no_file(path: Path) -> str:
    if path.is_symlink() and not path.exists():
        return f"is a link to {path.readlink()}, which is not there"
    return "is a folder, and no file" if path.is_dir() else "is no ordinary file"


def _read(name: str, path: Path) -> StackFile:
    top = _top(path)
    keys = _keys(path, top)
    raw: dict[str, Any] = {}
    topology = Reader()
    for key, entry in keys.items():
        raw[key] = (topology if key == "cluster" else Reader()).value(entry)
    encrypted = next(_encrypted(raw["cluster"], "cluster"), None)
    if encrypted:
        raise StackFileError(
            path.name,
            keys["cluster"].line,
            f"{encrypted} is encrypted, which would make a secret of the whole topology; set the value as"
            ' a key of its own (`pulumi config set --secret`) and ask for it in a patch with secret("key")',
        )
    secrets = frozenset(key for key, value in raw.items() if next(_encrypted(value, key), None))
    return StackFile(
        name,
        path,
        {key: _marked(value, key) for key, value in raw.items()},
        secrets,
        tuple(topology.faults),
        tuple(key for key in top if key not in KEYS),
        {
            **{key: entry.line for key, entry in top.items()},
            **topology.lines,
            **{f"{PROJECT}:{key}": entry.line for key, entry in keys.items()},
        },
        "environment" in top,
    )


def _top(path: Path) -> dict[str, Entry]:
    """The keys of the file and what stands under each."""
    try:
        documents: tuple[Document, ...] = parse(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise StackFileError(path.name, None, "is not UTF-8 text") from None
    root = documents[0].root if documents else None
    if root is None or not isinstance(root.node, MappingNode):
        raise StackFileError(path.name, None, "holds no configuration: it must be a map with the key config")
    if len(documents) > 1:
        line = documents[1].line
        raise StackFileError(path.name, line, "a second document begins here, which nobody reads; take it out")
    return {name: entry for name, (entry, _) in keys_of(root, root.node).items()}


def _keys(path: Path, top: Mapping[str, Entry]) -> dict[str, Entry]:
    """The project's keys without its name, `cluster` among them; those of other projects under their own."""
    config = top.get("config")
    if config is None:
        near = difflib.get_close_matches("config", top, n=1)
        raise StackFileError(path.name, None, f"has no key config{f'; {near[0]} is none' if near else ''}")
    if config.text or config.items:
        raise StackFileError(path.name, config.line, "config must be a map of keys and values")
    found: dict[str, Entry] = {}
    for child in config.keys:
        key = str(child.path[-1]).replace(":config:", ":").removeprefix(f"{PROJECT}:")
        if key in found:
            raise YamlFaultError(child.line, f"the key {PROJECT}:{key} stands there a second time")
        found[key] = child
    if "cluster" not in found:
        near = difflib.get_close_matches(CLUSTER, [str(child.path[-1]) for child in config.keys], n=1)
        line = next((child.line for child in config.keys if child.path[-1] in near), None)
        guess = f"; {near[0]} is a key that nothing reads: write {CLUSTER}" if near else ""
        raise StackFileError(path.name, line, f"has no key {CLUSTER}{guess}")
    return found


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
