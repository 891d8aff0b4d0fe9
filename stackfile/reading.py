"""From the file to its keys and values; a file that the engine would not read is refused with the line."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import findings
from engine import PROJECT
from findings import Finding, FindingsError, Place, nearest
from machinery.entries import Entry, roots
from machinery.errors import ConfigError
from machinery.problems import Problem
from machinery.yaml import MappingNode
from stackfile.values import Reader, keys_of

CLUSTER = f"{PROJECT}:cluster"
KEYS = ("config", "environment", "secretsprovider", "encryptedkey", "encryptionsalt")
"""What the engine reads of a stack file."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
"""What the engine takes for the name of a stack."""


class StackFileError(FindingsError):
    """A file that cannot be read as a stack file; `line` counts from 1."""

    def __init__(self, file: str, line: int | None, message: str, cure: str = "correct the file") -> None:
        """`message` follows the place."""
        super().__init__([Finding(Place(file, line), message, cure)])


class NoStackError(Exception):
    """There is no stack of that name."""


@dataclass(frozen=True)
class Written:
    """What a stack file says."""

    name: str
    path: Path
    config: Mapping[str, Any] = field(repr=False)
    """The project's keys without its name, and those of other projects under their own. `cluster` may be missing."""
    misread: tuple[Finding, ...]
    """Values of the topology that the engine takes for something else than is written."""
    lines: Mapping[findings.Path, int] = field(repr=False)
    """The lines of the file's own keys, of the keys of `config` with their project, and of the topology's values."""
    top: tuple[str, ...]
    """The file's own keys, `config` among them."""


def names(folder: Path) -> tuple[str, ...]:
    """The names of the stacks that have a file in a folder."""
    found = (path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in folder.glob("Pulumi.*.yaml"))
    return tuple(sorted(filter(None, found)))


def path_of(name: str, folder: Path) -> Path:
    """The path of `Pulumi.<name>.yaml` in a folder; raises NoStackError where there is none."""
    path = folder / f"Pulumi.{name}.yaml"
    if "/" in name or not os.path.lexists(path):
        raise NoStackError(f"there is no stack {name} in {folder}; there are: {', '.join(names(folder)) or 'none'}")
    return path


def read(name: str, folder: Path) -> Written:
    """Read the file of a stack; raises NoStackError, or StackFileError where it is no stack file."""
    path = path_of(name, folder)
    if not _NAME.fullmatch(name):
        raise StackFileError(path.name, None, f"{name!r} is not a stack name: use letters, digits, -, _ and .")
    try:
        if not path.is_file():
            raise StackFileError(path.name, None, _no_file(path), "put the file itself there")
        return _read(name, path)
    except OSError as error:
        raise StackFileError(path.name, None, f"cannot be read: {error.strerror}", "make it readable") from None
    except ConfigError as error:
        (problem,) = error.problems
        raise StackFileError(path.name, problem.line, f"is not YAML: {problem.message}") from None


def _no_file(path: Path) -> str:
    if path.is_symlink() and not path.exists():
        return f"is a link to {path.readlink()}, which is not there"
    return "is a folder, not a file" if path.is_dir() else "is not a regular file"


def _read(name: str, path: Path) -> Written:
    top = _top(path)
    keys = _keys(path, top)
    topology = Reader()
    config = {key: (topology if key == "cluster" else Reader()).value(entry) for key, entry in keys.items()}
    return Written(
        name,
        path,
        config,
        tuple(topology.misread),
        {
            **{(key,): entry.line for key, entry in top.items()},
            **{path or ("cluster",): line for path, line in topology.lines.items()},
            **{(key if ":" in key else f"{PROJECT}:{key}",): entry.line for key, entry in keys.items()},
        },
        tuple(top),
    )


def _top(path: Path) -> dict[str, Entry]:
    """The keys of the file and what is under each."""
    try:
        documents = roots(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise StackFileError(path.name, None, "is not UTF-8 text") from None
    root = documents[0] if documents else None
    if root is None or not isinstance(root.node, MappingNode):
        raise StackFileError(path.name, None, "holds no configuration: it must be a map with the key config")
    if len(documents) > 1:
        line = documents[1].line
        raise StackFileError(path.name, line, "a second document begins here, which nobody reads; take it out")
    return {name: entry for name, (entry, _) in keys_of(root, root.node).items()}


def _keys(path: Path, top: Mapping[str, Entry]) -> dict[str, Entry]:
    """The project's keys without its name, `cluster` among them; those of other projects under their own."""
    config = top.get("config")
    if config is not None and (config.text or config.items):
        raise StackFileError(path.name, config.line, "config must be a map of keys and values")
    found: dict[str, Entry] = {}
    for child in config.keys if config else ():
        key = str(child.path[-1]).replace(":config:", ":").removeprefix(f"{PROJECT}:")
        if key in found:
            raise ConfigError(Problem(f"the key {PROJECT}:{key} is there twice", line=child.line))
        found[key] = child
    return found


def without_cluster(written: Written) -> StackFileError:
    """What is to be said of a file that has no topology."""
    if "config" not in written.top:
        near = nearest("config", written.top)
        return StackFileError(written.path.name, None, f"has no key config{f'; {near} is none' if near else ''}")
    lines = {str(path[0]): line for path, line in written.lines.items() if ":" in str(path[0])}
    near = nearest(CLUSTER, lines)
    guess = f"; {near} is a key that nothing reads: write {CLUSTER}" if near else ""
    return StackFileError(written.path.name, lines.get(near), f"has no key {CLUSTER}{guess}")
