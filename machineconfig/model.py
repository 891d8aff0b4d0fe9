"""What comes out of a rendering."""

from dataclasses import dataclass, field, replace

from findings import Finding


@dataclass(frozen=True)
class Patch:
    """One rendered file of `patches/` for one node: valid input of Talos's strategic merge.

    `source` is the file's path below `patches/`. `secrets` are the names it asked for with `secret("name")`:
    the text has placeholders for their values until they are put in. `lines` says which line of the
    file each line of the text came from.
    """

    source: str
    text: str = field(repr=False)
    secrets: frozenset[str] = frozenset()
    lines: tuple[int, ...] = field(default=(), repr=False)

    @property
    def file(self) -> str:
        """The file's path below the project's folder."""
        return in_patches(self.source)

    @property
    def is_secret(self) -> bool:
        """Whether it asks for any secret."""
        return bool(self.secrets)

    def line(self, line: int | None) -> int | None:
        """The file's line behind a line of the text; both count from 1."""
        if line is None or not self.lines:
            return line
        return self.lines[min(line, len(self.lines)) - 1]


def in_patches(source: str) -> str:
    """The path of a file below the project's folder by its path below `patches/`."""
    return f"patches/{source}"


def mark(key: str) -> str:
    """What stands for a secret where its value is not known."""
    return f"<secret {key}>"


def withheld(finding: Finding, message: str) -> Finding:
    """The same place of a patch with real secrets, in words that hold none of them."""
    return replace(
        finding, message=message, cure="give the secret a value of the form that the patch expects", value=""
    )
