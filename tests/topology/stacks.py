"""Stack files for the tests: whole ones from the folders beside this file, and small changes to them."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CLUSTER_KEY = "talos-stacks:cluster"
FOLDERS = ("valid", "warned", "invalid")


def stack_files(folder: str) -> list[Path]:
    """Return the stack files of one folder."""
    return sorted((HERE / folder).glob("*.yaml"))


def read(file: Path) -> Any:
    """Return the whole stack file as YAML reads it."""
    return yaml.safe_load(file.read_text())


def cluster(file: Path) -> Any:
    """Return the value of the cluster key of a stack file."""
    return read(file)["config"][CLUSTER_KEY]


def announced(file: Path) -> list[str]:
    """Return the messages a stack file says it gives: its first lines, each behind ``# ``."""
    lines = file.read_text().splitlines()
    return [line.removeprefix("# ") for line in lines if line.startswith("# ")]


def valid(name: str = "proxmox", edit: Callable[[Any], object] | None = None) -> Any:
    """Return a valid cluster, or a doubtful one, changed by ``edit``."""
    found = (path for folder in ("valid", "warned") if (path := HERE / folder / f"{name}.yaml").exists())
    raw = copy.deepcopy(cluster(next(found)))
    if edit:
        edit(raw)
    return raw
