"""The files below `patches/`, each looked for and read once, however many nodes are rendered from them."""

from collections.abc import Callable
from functools import cache, cached_property, partial
from pathlib import Path

from findings import Finding
from machineconfig.bounds import LARGEST, RefusedError
from machineconfig.levels import check_folder, check_root, files
from machineconfig.templates import TemplateFaultError


class Sources:
    """The files as they were when they were first asked for."""

    findings_in: Callable[[str], tuple[Finding, ...]]
    """What lies in a level and would be passed over."""
    files: Callable[[str], tuple[tuple[Path, str], ...]]
    """The patches of a level by name, each with its path below the root."""
    text: Callable[[Path], str]
    """The text of a file; raises TemplateFaultError."""
    included: Callable[[str], str]
    """A file as it is: nothing in it is rendered or expanded. Raises RefusedError and TemplateFaultError."""

    def __init__(self, root: Path) -> None:
        """Nothing is read yet."""
        self.root = root
        self.findings_in = cache(lambda folder: tuple(check_folder(root, folder)))
        self.files = cache(partial(_files, root))
        self.text = cache(_read)
        self.included = cache(partial(_include, root))
        self._refused: dict[Path, TemplateFaultError] = {}

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What lies below the root and no node would read."""
        return tuple(check_root(self.root))

    def note(self, path: Path, fault: TemplateFaultError) -> None:
        """Remember what is wrong with a template for every node alike."""
        if fault.always:
            self._refused[path] = fault

    def check(self, path: Path) -> None:
        """Raise what is wrong with a template for every node alike, if that is known: trying it again takes time."""
        if path in self._refused:
            raise self._refused[path]


def _files(root: Path, folder: str) -> tuple[tuple[Path, str], ...]:
    return tuple((path, path.relative_to(root).as_posix()) for path in files(root, folder))


def _include(root: Path, name: str) -> str:
    """A file as it is: nothing in it is rendered or expanded. Raises RefusedError and TemplateFaultError."""
    root = root.resolve()
    if Path(name).is_absolute():
        raise RefusedError(f"includes a file by its whole path: {name}", "name it as it is called below patches/")
    try:
        path = (root / name).resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a name that no file can have
        raise RefusedError(f"includes a file that cannot be found: {name}", "correct the name") from None
    if not path.is_relative_to(root):
        raise RefusedError(f"includes a file outside patches/: {name}", "move the file to patches/manifests/")
    if not path.is_file():
        cure = f"there is {', '.join(_near(root, name)) or 'nothing to include'} below patches/"
        raise RefusedError(f"includes a file that does not exist: {name}", cure)
    return _read(path).rstrip("\n")


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise TemplateFaultError(None, f"is larger than {LARGEST} bytes", "make it smaller", always=True)
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise TemplateFaultError(None, "is not UTF-8 text", "save it as UTF-8") from None
    except OSError as error:
        raise TemplateFaultError(None, f"cannot be read: {error.strerror}", "make it readable") from None


def _near(root: Path, name: str) -> list[str]:
    folder = (root / name).parent
    return sorted(path.relative_to(root).as_posix() for path in folder.glob("*") if path.is_file())[:5]
