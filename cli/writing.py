"""Puts renderings into their folders: all of them or none, and only the files that are not there yet as they are."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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
        """Raise CliError where the folder holds something that is not a rendering, or not the rest of this one."""
        if self.folder.exists() and not self.folder.is_dir():
            raise CliError(f"{self.folder} is a file; name a folder with --out")
        manifest = self.folder / MANIFEST
        if self.folder.is_dir() and any(self.folder.iterdir()) and not manifest.is_file():
            raise CliError(f"{self.folder} holds something that is not a rendering; name another folder with --out")
        if self.is_part and manifest.is_file() and manifest.read_text(encoding="utf-8") != self.files[MANIFEST]:
            raise CliError(
                f"{self.folder} holds a rendering of another stack, or one made with other options: one that shows"
                " secrets where this does not, has origins, or comes from the plugin; leave --node out, or name"
                " another folder with --out"
            )

    def is_there(self, mode: int) -> bool:
        """Whether the folder holds it already, with the mode that its files are to have."""
        if not self.folder.is_dir() or self.folder.stat().st_mode & 0o777 & ~(mode | 0o111):
            return False
        return {*self._before} - {*self._others} == self.files.keys() and all(
            self._is_kept(name, mode) for name in self.files
        )

    def stage(self, new: Path, mode: int) -> None:
        """Put everything into a folder beside the one where it belongs, and other nodes of before with it."""
        names = (*self.files, *self._others)
        for folder in sorted({(new / name).parent for name in names}):
            folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            if name not in self.files or self._is_kept(name, mode):
                _keep(self.folder / name, new / name)
            else:
                (new / name).write_text(self.files[name], encoding="utf-8", newline="\n")

    @cached_property
    def _before(self) -> tuple[str, ...]:
        """What is there, and no folder."""
        return tuple(_below(self.folder, ""))

    @cached_property
    def _others(self) -> tuple[str, ...]:
        """The files of nodes that this is not about."""
        own = {name.partition("/")[0] for name in self.files}
        return tuple(
            name for name in self._before if self.is_part and "/" in name and name.partition("/")[0] not in own
        )

    def _is_kept(self, name: str, mode: int) -> bool:
        """Whether a file is there as it is to be."""
        path = self.folder / name
        try:
            found = path.lstat().st_mode
            return found == stat.S_IFREG | mode and path.read_bytes() == self.files[name].encode()
        except OSError:
            return False


def write(renderings: Sequence[Rendering], *, secret: bool) -> None:
    """Put renderings in place of those of before; what cannot be written leaves all of those as they were.

    A rendering that is there already is not touched, and a file of another one only where it is different. With
    `secret` the files are for this user alone. Raises CliError and OSError.
    """
    for rendering in renderings:
        rendering.check()
    before = os.umask(0o077)
    mask = 0o077 if secret else before
    os.umask(mask)
    mode = 0o666 & ~mask
    beside: dict[Path, Rendering] = {}
    try:
        for rendering in renderings:
            if rendering.is_there(mode):
                continue
            rendering.folder.parent.mkdir(parents=True, exist_ok=True)
            place = Path(tempfile.mkdtemp(prefix=".rendering-", dir=rendering.folder.parent))
            beside[place] = rendering
            rendering.stage(place / "new", mode)
        _swap(beside)
    finally:
        for place in beside:
            shutil.rmtree(place, ignore_errors=True)
        os.umask(before)


def _below(folder: Path, prefix: str) -> Iterator[str]:
    if folder.is_dir():
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _below(Path(entry.path), f"{prefix}{entry.name}/")
                else:
                    yield f"{prefix}{entry.name}"


def _keep(old: Path, new: Path) -> None:
    """The same file in another folder, a copy where the file system has no links."""
    try:
        os.link(old, new, follow_symlinks=False)
    except OSError:
        shutil.copy2(old, new, follow_symlinks=False)


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
