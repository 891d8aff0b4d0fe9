"""Reads back what `render` wrote."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.compare import Compared, from_places
from cli.difference import documents
from cli.errors import CliError
from cli.render import FINAL, ORIGINS, SECRETS
from cli.writing import MANIFEST
from machineconfig.paths import Documents, places, written
from machineconfig.redaction import Place, marked_places
from machinery import ConfigError


@dataclass(frozen=True)
class RenderedNode:
    """One node: its final configuration, and where its values come from if that was written."""

    made: Compared
    origins: Mapping[str, Any] | None


@dataclass(frozen=True)
class Folder:
    """The rendering of one stack; `secrets` is `redacted` or `shown`."""

    secrets: str
    nodes: Mapping[str, RenderedNode]

    @classmethod
    def empty(cls) -> "Folder":
        """The rendering of a stack that is not there."""
        return cls("redacted", {})


def read(folder: Path) -> dict[str, Folder]:
    """The renderings in a folder, by stack: the folder itself, or every one in it. Raises CliError without any."""
    places = [folder] if (folder / MANIFEST).is_file() else sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    if not places:
        raise CliError(f"{folder} holds no rendering; `talos-stacks render --out {folder}` makes one")
    return dict(map(_rendering, places))


def _rendering(folder: Path) -> tuple[str, Folder]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        secrets, has_origins = str(manifest["secrets"]), bool(manifest["origins"])
        nodes = {
            path.parent.name: _node(path.parent, secrets == "shown", has_origins)
            for path in sorted(folder.glob(f"*/{FINAL}"))
        }
        return str(manifest["stack"]), Folder(secrets, nodes)
    except (OSError, ValueError, LookupError, TypeError, ConfigError):
        raise CliError(f"the rendering in {folder} cannot be read; make it again") from None


def _node(folder: Path, shows_secrets: bool, has_origins: bool) -> RenderedNode:
    made = documents((folder / FINAL).read_text(encoding="utf-8"))
    places = _places(made, folder / SECRETS) if shows_secrets else marked_places(made)
    return RenderedNode(from_places(made, places), _json(folder / ORIGINS) if has_origins else None)


def _places(made: Documents, file: Path) -> frozenset[Place]:
    known = {written(*place): place for place in places(made)}
    return frozenset(known[text] for text in _json(file))


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
