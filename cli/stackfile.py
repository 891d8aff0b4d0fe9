"""Reads a stack file as it lies there, without an engine, credentials or a passphrase.

The file is plain YAML 1.2. Encrypted values stay encrypted: a mark stands in their place.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from cli.errors import CliError
from machineconfig.documents import YamlFaultError, parse
from machineconfig.model import mark

PROJECT = "talos-stacks"
CLUSTER = f"{PROJECT}:cluster"


@dataclass(frozen=True)
class StackFile:
    """One stack file. `config` is by the key without the project's name; encrypted values in it are marks."""

    name: str
    path: Path
    config: Mapping[str, Any] = field(repr=False)
    secrets: frozenset[str]
    """The keys that are encrypted."""

    @property
    def cluster(self) -> Any:
        """The topology as it stands in the file, None if it has none."""
        return self.config.get("cluster")

    @property
    def folder(self) -> Path:
        """The checkout."""
        return self.path.parent


def stacks(folder: Path) -> tuple[str, ...]:
    """The names of the stacks that have a file in a folder."""
    names = (path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in folder.glob("Pulumi.*.yaml"))
    return tuple(sorted(filter(None, names)))


def read(name: str, folder: Path) -> StackFile:
    """Read `Pulumi.<name>.yaml` in a folder; raises CliError where there is none or it cannot be read as one."""
    path = folder / f"Pulumi.{name}.yaml"
    if "/" in name or not path.is_file():
        raise CliError(f"there is no stack {name} in {folder}; there are: {', '.join(stacks(folder)) or 'none'}")
    config = _mapping(path, _load(path)).get("config")
    if config is not None and not isinstance(config, dict):
        raise CliError(f"{path.name}: config must be a map of keys and values")
    raw = {str(key).removeprefix(f"{PROJECT}:"): value for key, value in (config or {}).items()}
    encrypted = next(_encrypted(raw.get("cluster"), "cluster"), None)
    if encrypted:
        raise CliError(
            f"{path.name}: {encrypted} is encrypted, which would make a secret of the whole topology; set the value as"
            ' a key of its own (`pulumi config set --secret`) and ask for it in a patch with secret("key")'
        )
    secrets = frozenset(key for key, value in raw.items() if next(_encrypted(value, key), None))
    return StackFile(name, path, {key: _marked(value, key) for key, value in raw.items()}, secrets)


def _load(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
        parse(text)  # refuses anchors that make too much of a text
        return YAML(typ="safe", pure=True).load(text)
    except UnicodeDecodeError:
        raise CliError(f"{path.name} is not UTF-8 text") from None
    except YamlFaultError as error:
        where = f":{error.line}" if error.line else ""
        raise CliError(f"{path.name}{where} is not YAML: {error.message}") from None
    except MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        where = f":{at.line + 1}" if at else ""
        # The first line alone: what follows may quote the file.
        problem = str(error.problem or error.context or "cannot be read").splitlines()[0].partition(" with value")[0]
        raise CliError(f"{path.name}{where} is not YAML: {problem}") from None
    except RecursionError:
        raise CliError(f"{path.name} is not YAML: it is nested too deeply") from None
    except Exception:  # whatever else the parser says of such a text, such as a list as a key
        raise CliError(f"{path.name} is not YAML: it cannot be read") from None


def _mapping(path: Path, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise CliError(f"{path.name} holds no configuration: it must be a map with the key config")
    return value


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
