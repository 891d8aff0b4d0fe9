"""Which files of `patches/` apply to a node, in which order: all, machine type, role, zone, platform, node."""

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from findings import Finding, Place, nearest
from machineconfig.model import in_patches
from topology import ROLES, Node, Topology
from topology.platforms import PLATFORMS

MANIFESTS = "manifests"
_NAMED = ("role", "zone", "platform", "node")
_FOLDERS = ("all", "controlplane", "worker", *_NAMED, MANIFESTS)
_LEVELS = "all/, controlplane/, worker/, role/<role>/, zone/<zone>/, platform/<kind>/ or node/<name>/"
_NAME = re.compile(r"[0-9]{2}-[a-z0-9]+(?:-[a-z0-9]+)*\.yaml(?:\.j2)?")


def levels(topology: Topology, node: Node) -> tuple[str, ...]:
    """The folders of a node, the widest first: a later patch wins."""
    zone = (f"zone/{node.zone}",) if node.zone else ()
    own = (f"platform/{topology.platform.kind}", f"node/{node.name}")
    return ("all", node.machine_type, f"role/{node.role}", *zone, *own)


def files(root: Path, folder: str) -> tuple[Path, ...]:
    """The patches of one folder by name, so that the number in front decides; none if there is no such folder."""
    paths = (path for path in _entries(root / folder) if _NAME.fullmatch(path.name))
    return tuple(path for path in paths if not _unusable(root, path) and path.is_file())


def check_folder(root: Path, folder: str) -> Iterator[Finding]:
    """What lies in a folder and would be passed over in silence."""
    for path in _entries(root / folder):
        source = _source(root, path)
        if wrong := _unusable(root, path):
            yield Finding(Place(source), *wrong)
        elif path.is_dir():
            yield Finding(Place(source), "is a folder inside a level", "put its files into the level itself")
        elif not _NAME.fullmatch(path.name):
            message = f"{path.name} is not the name of a patch"
            yield Finding(Place(source), message, "name it NN-domain.yaml or NN-domain.yaml.j2, as 20-network.yaml")


def check_root(root: Path) -> Iterator[Finding]:
    """Folders that no node would ever read, because their name is no level's, and files beside the levels."""
    tables = {"": _FOLDERS, "role": tuple(ROLES), "platform": tuple(PLATFORMS), "zone": None, "node": None}
    for folder, known in tables.items():
        for path in _entries(root / folder):
            source = _source(root, path)
            if wrong := _unusable(root, path):
                yield Finding(Place(source), *wrong)
            elif path.is_file() and path.suffix != ".md":
                yield Finding(Place(source), "is a file that no node reads", f"move it to a level: {_LEVELS}")
            elif path.is_dir() and known is not None and path.name not in known:
                message = f"no node reads a folder called {path.name}"
                yield Finding(Place(source), message, _name_of(path.name, known))


def check_names(root: Path, topologies: Collection[Topology]) -> Iterator[Finding]:
    """Levels of zones and nodes that none of these clusters has: the patches of one that was renamed, or misspelt."""
    zones = {name for topology in topologies for name in topology.zones}
    nodes = {node.name for topology in topologies for node in topology.nodes}
    for folder, known in (("zone", zones), ("node", nodes)):
        for path in _entries(root / folder):
            if not _unusable(root, path) and path.is_dir() and path.name not in known:
                message = f"no stack has a {folder} called {path.name}"
                cure = f"{_name_of(path.name, known)}, or take it out" if known else "take it out"
                yield Finding(Place(_source(root, path)), message, cure)


def _source(root: Path, path: Path) -> str:
    return in_patches(path.relative_to(root).as_posix())


def _name_of(name: str, known: Iterable[str]) -> str:
    """What to call something instead: the known name that is near, or any of them where they are few."""
    names = sorted(known)
    near = nearest(name, names)
    return f"call it {near}" if near else f"use one of {', '.join(names[:8])}"


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "__pycache__")))
    except OSError:  # not there, or said where its own folder is looked through
        return []


def _unusable(root: Path, path: Path) -> tuple[str, str] | None:
    """Why a path can be neither read nor looked into, and what to do about it."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "is a link to something that is not there", "correct the link or take it out"
    except OSError as error:
        return f"cannot be read: {error.strerror}", "make it readable or take it out"
    project, real = root.resolve().parent, path.resolve()
    if not real.is_relative_to(project) or any(part.startswith(".") for part in real.relative_to(project).parts):
        return "is a link out of the project", "put the file itself there"
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return "is neither a file nor a folder", "take it out"
    if not os.access(path, os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0)):
        return "cannot be read: Permission denied", "make it readable or take it out"
    return None
