"""Reads a stack file as it lies there, without an engine, credentials or a passphrase.

Encrypted values stay encrypted: a mark stands in their place.
"""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli.errors import CliError
from cli.pulumiyaml import Reader
from machineconfig.documents import Document, Entry, YamlFaultError, parse
from machineconfig.model import mark
from topology import Fault

PROJECT = "talos-stacks"
CLUSTER = f"{PROJECT}:cluster"


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
    lines: Mapping[str, int] = field(default_factory=dict, repr=False)
    """The lines of the project's keys, and of the topology's values by their places."""
    has_environment: bool = False
    """Whether more of its configuration comes from elsewhere, an environment of Pulumi's."""

    @property
    def cluster(self) -> Any:
        """The topology as it stands in the file; raises CliError where the engine would read another one."""
        if self.faults:
            raise CliError("\n".join(f"{self.place(fault)}: {fault}" for fault in self.faults))
        return self.config["cluster"]

    @property
    def folder(self) -> Path:
        """The checkout."""
        return self.path.parent

    def place(self, fault: Fault) -> str:
        """`Pulumi.lab.yaml:12`: the line of what a fault is about, or of the nearest thing around it."""
        line = self.line(fault)
        return self.path.name if line is None else f"{self.path.name}:{line}"

    def line(self, fault: Fault) -> int | None:
        """The line alone."""
        path = fault.path
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
    """Read `Pulumi.<name>.yaml` in a folder; raises CliError where there is none or it cannot be read as one."""
    path = folder / f"Pulumi.{name}.yaml"
    if "/" in name or not path.is_file():
        raise CliError(f"there is no stack {name} in {folder}; there are: {', '.join(stacks(folder)) or 'none'}")
    try:
        return _read(name, path)
    except YamlFaultError as error:
        where = f":{error.line}" if error.line else ""
        raise CliError(f"{path.name}{where} is not YAML: {error.message}") from None


def _read(name: str, path: Path) -> StackFile:
    root = _root(path)
    keys = _keys(path, root)
    raw: dict[str, Any] = {}
    topology = Reader()
    for key, entry in keys.items():
        raw[key] = (topology if key == "cluster" else Reader()).value(entry)
    encrypted = next(_encrypted(raw["cluster"], "cluster"), None)
    if encrypted:
        raise CliError(
            f"{path.name}: {encrypted} is encrypted, which would make a secret of the whole topology; set the value as"
            ' a key of its own (`pulumi config set --secret`) and ask for it in a patch with secret("key")'
        )
    secrets = frozenset(key for key, value in raw.items() if next(_encrypted(value, key), None))
    return StackFile(
        name,
        path,
        {key: _marked(value, key) for key, value in raw.items()},
        secrets,
        tuple(topology.faults),
        {**topology.lines, **{f"{PROJECT}:{key}": entry.line for key, entry in keys.items()}},
        root.get("environment") is not None,
    )


def _root(path: Path) -> Entry:
    try:
        documents: tuple[Document, ...] = parse(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise CliError(f"{path.name} is not UTF-8 text") from None
    if not documents or not documents[0].is_mapping:
        raise CliError(f"{path.name} holds no configuration: it must be a map with the key config")
    if len(documents) > 1:
        raise CliError(f"{path.name}:{documents[1].line} begins a second document, which nobody reads; take it out")
    return documents[0].root


def _keys(path: Path, root: Entry) -> dict[str, Entry]:
    """The project's keys without its name, `cluster` among them; those of other projects under their own."""
    config = root.get("config")
    if config is None:
        near = difflib.get_close_matches("config", [str(child.path[-1]) for child in root.keys], n=1)
        raise CliError(f"{path.name} has no key config{f'; {near[0]} is none' if near else ''}")
    if config.text or config.items:
        raise CliError(f"{path.name}: config must be a map of keys and values")
    found: dict[str, Entry] = {}
    for child in config.keys:
        key = str(child.path[-1]).replace(":config:", ":").removeprefix(f"{PROJECT}:")
        if key in found:
            raise YamlFaultError(child.line, f"the key {PROJECT}:{key} stands there a second time")
        found[key] = child
    if "cluster" not in found:
        near = difflib.get_close_matches(CLUSTER, [str(child.path[-1]) for child in config.keys], n=1)
        line = next((f":{child.line}" for child in config.keys if child.path[-1] in near), "")
        guess = f"; {near[0]} is a key that nothing reads: write {CLUSTER}" if near else ""
        raise CliError(f"{path.name}{line} has no key {CLUSTER}{guess}")
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
