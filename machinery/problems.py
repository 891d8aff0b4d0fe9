"""What is wrong in a configuration: a sentence, and the place that it is about."""

import re
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
_BEGINNING = re.compile(r"[a-z]\w*(?:\.[\w-]+|\[[0-9]+\])*")
_PART = re.compile(r"[\w-]+")


class Problem(str):
    """One sentence. `document` is the title of the one that it is about, empty for the one with machine and cluster.

    `path` leads to the place in it, `line` is the text's, and `bare` is the sentence without line and title.
    """

    document: str
    path: Path
    line: int | None
    bare: str

    def __new__(
        cls, text: str, *, document: str = "", path: Path = (), line: int | None = None, bare: str = ""
    ) -> "Problem":
        """Take the sentence and its place."""
        problem = super().__new__(cls, text)
        problem.document, problem.path, problem.line, problem.bare = document, path, line, bare or text
        return problem

    @classmethod
    def at(cls, line: int, message: str, path: Path = ()) -> "Problem":
        """Return a problem of a line of a text."""
        return cls(f"line {line}: {message}", path=path, line=line, bare=message)

    def under(self, prefix: str, document: str = "") -> "Problem":
        """Return the same problem behind `prefix`."""
        text, document = f"{prefix}: {self}", document or self.document
        return Problem(text, document=document, path=self.path, line=self.line, bare=self.bare)


def dotted(path: Path) -> str:
    """Write a path as people do: `machine.network.interfaces[0].addresses`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def beginning(text: str) -> Path:
    """Return the path that a sentence begins with: `machine.disks[0]` of `machine.disks[0] is empty`, none of `it`."""
    found = _BEGINNING.match(text)
    parts = _PART.findall(found[0]) if found and found[0] != "it" else ()
    return tuple(int(part) if part.isdecimal() else part for part in parts)
