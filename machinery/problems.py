"""What Talos's library has against a text: a sentence of its own, and the place that it is about."""

from dataclasses import dataclass, replace

from findings import Path


@dataclass(frozen=True)
class Problem:
    """One thing that Talos refuses or warns of. It knows of no file and no cure: who asked makes a finding of it."""

    message: str
    """A sentence, with the path and the value in it where that helps."""
    path: Path = ()
    """The place in the document."""
    line: int | None = None
    """Of the text, from 1."""
    document: str = ""
    """The title of the document that it is about, empty for the one with machine and cluster."""
    value: str = ""
    """The value that the sentence quotes."""
    context: tuple[str, ...] = ()
    """What was being read or made, the widest first."""

    def __str__(self) -> str:
        """``config_patches[0]: v1alpha1 document: line 3: machine.hostname is not a key that Talos knows``."""
        line = () if self.line is None else (f"line {self.line}",)
        return ": ".join((*self.context, *line, self.message))

    def under(self, context: str, document: str = "") -> "Problem":
        """Return the same problem of something that was part of something else."""
        return replace(self, context=(context, *self.context), document=document or self.document)
