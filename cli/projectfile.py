"""Pulumi.yaml: whether the engine could run this program by it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from cli.errors import CliError
from engine import PROJECT
from findings import Place
from machineconfig.documents import Entry, parse
from machinery.errors import ConfigError
from machinery.yaml import MappingNode
from stackfile.values import keys_of

FILE = "Pulumi.yaml"
_RUNTIME = "python"


def check(folder: Path) -> None:
    """Raise CliError with everything that is wrong with the project file in a folder."""
    try:
        keys = _keys(folder / FILE)
    except ConfigError as error:
        (problem,) = error.problems
        raise CliError(f"{Place(FILE, problem.line)}: is not YAML: {problem.message}") from None
    except UnicodeDecodeError:
        raise CliError(f"{FILE}: is not UTF-8 text") from None
    except OSError as error:
        raise CliError(f"{FILE}: cannot be read: {error.strerror}") from None
    if found := list(_wrong(keys)):
        raise CliError("\n".join(found))


def _keys(path: Path) -> Mapping[str, Entry]:
    documents = parse(path.read_text(encoding="utf-8-sig"))
    root = documents[0].root if documents else None
    if root is None or not isinstance(root.node, MappingNode):
        raise CliError(f"{FILE}: holds no project: it must be a map with the keys name and runtime")
    return {name: entry for name, (entry, _) in keys_of(root, root.node).items()}


def _wrong(keys: Mapping[str, Entry]) -> Iterator[str]:
    name = keys.get("name")
    if name is None or name.text != PROJECT:
        yield f"{_place(name)}: the project's name must be {PROJECT}, with which keys of stack files begin"
    runtime = keys.get("runtime")
    named = runtime.get("name") or runtime if runtime else None
    if named is None or named.text != _RUNTIME:
        yield f"{_place(named)}: the project's runtime must be {_RUNTIME}"


def _place(entry: Entry | None) -> str:
    return str(Place(FILE, entry.line if entry else None))
