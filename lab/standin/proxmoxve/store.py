"""What the pretended Proxmox VE remembers: one JSON file per lab, shared by every plugin process."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.standin.resource import ProviderError

State = dict[str, dict[str, Any]]
_NAME = "proxmox.json"
_SECTIONS = ("vms", "files", "pools", "pci")


def default_path() -> Path:
    """Return the file in the folder of the lab's run; raises ``ProviderError`` outside a lab."""
    if directory := os.environ.get("LAB_DIR"):
        return Path(directory) / _NAME
    home, stack = os.environ.get("LAB_HOME"), os.environ.get("LAB_STACK")
    if home and stack and (folder := Path(home) / stack).is_dir():
        return folder / _NAME
    if socket := os.environ.get("LAB_SOCKET"):
        return Path(f"{socket}.{_NAME}")
    raise ProviderError("the proxmoxve stand-in runs inside a lab only: LAB_HOME and LAB_SOCKET are not set")


class Store:
    """Reads and writes the file, one process at a time."""

    def __init__(self, path: Path | None = None) -> None:
        """Use ``path``; without one, the lab's own."""
        self._given = path

    @property
    def _path(self) -> Path:
        return self._given or default_path()

    def read(self) -> State:
        """Return what is there now: virtual machines by id, files by node and id, pools and PCI mappings by name."""
        with self._locked():
            return self._load()

    @contextlib.contextmanager
    def change(self) -> Iterator[State]:
        """Give the state to change; it is written when the block ends well, and left alone when it fails."""
        with self._locked():
            state = self._load()
            yield state
            partial = self._path.with_suffix(".new")
            partial.write_text(json.dumps(state, indent=1, sort_keys=True))
            partial.replace(self._path)

    def _load(self) -> State:
        state = json.loads(self._path.read_text()) if self._path.exists() else {}
        return {section: state.get(section, {}) for section in _SECTIONS}

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with self._path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
