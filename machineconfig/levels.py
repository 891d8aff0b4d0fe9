"""Which files of `patches/` apply to a node, in which order: all, role, zone, platform, node."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from machineconfig.model import Finding
from topology import Node, Topology

MANIFESTS = "manifests"
_NAMED = ("zone", "platform", "node")
_FOLDERS = ("all", "controlplane", "worker", *_NAMED, MANIFESTS)
_NAME = re.compile(r"[0-9]{2}-[a-z0-9]+(?:-[a-z0-9]+)*\.yaml(?:\.j2)?")


def levels(topology: Topology, node: Node) -> tuple[str, ...]:
    """The folders of a node, the widest first: a later patch wins."""
    zone = (f"zone/{node.zone}",) if node.zone else ()
    return ("all", node.role, *zone, f"platform/{topology.platform.kind}", f"node/{node.name}")


def files(root: Path, folder: str) -> tuple[Path, ...]:
    """The patches of one folder by name, so that the number in front decides; none if there is no such folder."""
    return tuple(sorted(path for path in _entries(root / folder) if path.is_file() and _NAME.fullmatch(path.name)))


def check_folder(root: Path, folder: str) -> Iterator[Finding]:
    """What lies in a folder and would be passed over in silence."""
    for path in _entries(root / folder):
        source = path.relative_to(root).as_posix()
        if path.is_dir():
            yield Finding("", source, None, "is a folder inside a level", "put its files into the level itself")
        elif not _NAME.fullmatch(path.name):
            message = f"{path.name} is not the name of a patch"
            yield Finding("", source, None, message, "name it NN-domain.yaml or NN-domain.yaml.j2, as 20-network.yaml")


def check_root(root: Path) -> Iterator[Finding]:
    """Folders that no node would ever read, because their name is no level's, and patches beside the levels."""
    for path in _entries(root):
        if path.is_dir() and path.name not in _FOLDERS:
            near = difflib.get_close_matches(path.name, _FOLDERS, n=1)
            remedy = f"call it {near[0]}" if near else f"use one of {', '.join(_FOLDERS)}"
            yield Finding("", path.name, None, f"no node reads a folder called {path.name}", remedy)
    for folder in ("", *_NAMED):
        for path in _entries(root / folder):
            if path.is_file() and path.name.endswith((".yaml", ".yml", ".j2")):
                source = path.relative_to(root).as_posix()
                below = f"{folder}/<name>/" if folder else "all/"
                yield Finding("", source, None, "is a patch that no node reads", f"move it to a level, such as {below}")


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "__pycache__")))
