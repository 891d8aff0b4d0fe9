"""Puts renderings into their folders: all of them or none."""

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cli.errors import CliError

MANIFEST = "rendering.json"
"""The file that tells a folder made here from any other."""


@dataclass(frozen=True)
class Rendering:
    """The files of one rendering by their path in its folder, and whether they are some of the nodes alone."""

    folder: Path
    files: Mapping[str, str] = field(repr=False)
    is_part: bool = False

    def check(self) -> None:
        """Raise CliError where the folder holds something that is no rendering, or not the rest of this one."""
        if self.folder.exists() and not self.folder.is_dir():
            raise CliError(f"{self.folder} is a file; name a folder with --out")
        manifest = self.folder / MANIFEST
        if self.folder.is_dir() and any(self.folder.iterdir()) and not manifest.is_file():
            raise CliError(f"{self.folder} holds something that is no rendering; name another folder with --out")
        if self.is_part and manifest.is_file() and manifest.read_text(encoding="utf-8") != self.files[MANIFEST]:
            raise CliError(
                f"{self.folder} holds a rendering of another stack, or one that shows secrets where this does not;"
                " leave --node out, or name another folder with --out"
            )

    def stage(self, new: Path) -> None:
        """Write everything into a folder beside the one where it belongs, and other nodes of before with it."""
        for name, text in self.files.items():
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        if self.is_part and self.folder.is_dir():
            for node in self.folder.iterdir():
                if node.is_dir() and not (new / node.name).exists():
                    shutil.copytree(node, new / node.name)


def write(renderings: Sequence[Rendering], *, secret: bool) -> None:
    """Put renderings in place of those of before; what cannot be written leaves all of those as they were.

    With `secret` the files are for this user alone. Raises CliError and OSError.
    """
    for rendering in renderings:
        rendering.check()
    before = os.umask(0o077) if secret else None
    beside: dict[Path, Rendering] = {}
    try:
        for rendering in renderings:
            rendering.folder.parent.mkdir(parents=True, exist_ok=True)
            place = Path(tempfile.mkdtemp(prefix=".rendering-", dir=rendering.folder.parent))
            beside[place] = rendering
            rendering.stage(place / "new")
        _swap(beside)
    finally:
        for place in beside:
            shutil.rmtree(place, ignore_errors=True)
        if before is not None:
            os.umask(before)


def _swap(beside: Mapping[Path, Rendering]) -> None:
    try:
        for place, rendering in beside.items():
            if rendering.folder.exists():
                rendering.folder.rename(place / "old")
            (place / "new").rename(rendering.folder)
    except OSError:
        for place, rendering in beside.items():
            if not (place / "new").exists():
                rendering.folder.rename(place / "new")
            if (place / "old").exists():
                (place / "old").rename(rendering.folder)
        raise
