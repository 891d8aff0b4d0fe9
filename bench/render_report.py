"""What was measured of rendering and checking, as a table, and whether it is as fast as it is meant to be."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import ROOT

DOCUMENT = ROOT / "docs" / "benchmarks.md"
HEADING = "## Rendering and checking"
GOALS = {"patches": 1.1, "check of configurations": 5.0}
"""Milliseconds a node."""


@dataclass(frozen=True)
class Result:
    """One size: seconds of CPU by part, and MB of memory, at first and at the peak.

    ``once`` are the seconds that the first node in a process takes, which compiles the templates.
    """

    nodes: int
    seconds: dict[str, float]
    once: float
    base: float
    peak: float

    @property
    def total(self) -> float:
        """Seconds."""
        return self.once + sum(self.seconds.values())

    def per_node(self, part: str) -> float:
        """Milliseconds a node."""
        return 1000 * self.seconds[part] / self.nodes


def table(results: Sequence[Result]) -> str:
    """Return the Markdown."""
    parts = list(results[0].seconds)
    head = ["ms a node", *(f"{result.nodes:,} nodes" for result in results), "goal"]
    rows = [
        [part, *(f"{result.per_node(part):.2f}" for result in results), f"{GOALS[part]:.1f}" if part in GOALS else ""]
        for part in parts
    ]
    rows.append(["the first node, templates compiled, in ms", *(f"{1000 * result.once:.0f}" for result in results), ""])
    rows.append(["**all of it, in seconds**", *(f"{result.total:.2f}" for result in results), ""])
    rows.append(["**memory, in MB**", *(f"{result.peak:.0f} ({result.base:.0f} at first)" for result in results), ""])
    lines = [head, ["---", *(["---:"] * (len(head) - 1))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def section(results: Sequence[Result]) -> str:
    """Return what stands in the document."""
    about = (
        "The prod stack with more of its workers: about seventeen patches a node. CPU time of one core, the fastest of"
        "\nseveral rounds; `python -m bench.render` measures it. The check of configurations makes them too.\n"
    )
    return f"{HEADING}\n\n{about}\n{table(results)}"


def write(results: Sequence[Result], document: Path = DOCUMENT) -> None:
    """Put the section into the document, in the place of the one that is there."""
    text = document.read_text(encoding="utf-8") if document.exists() else "# Benchmarks\n"
    before, found, after = text.partition(f"{HEADING}\n")
    rest = after.partition("\n## ")
    following = f"\n## {rest[2]}" if found and rest[1] else ""
    document.write_text(f"{before.rstrip()}\n\n{section(results)}{following}", encoding="utf-8")


def missed(results: Sequence[Result]) -> list[str]:
    """Return the goals that are not met, and parts whose time grows faster than the nodes."""
    found = [
        f"{part} of {result.nodes} nodes: {result.per_node(part):.2f} ms a node, and the goal is {goal}"
        for part, goal in GOALS.items()
        for result in results
        if result.per_node(part) > goal
    ]
    least, largest = min(results, key=_size), max(results, key=_size)
    return found + [
        f"{part} is not linear: {least.per_node(part):.2f} ms a node of {least.nodes}, "
        f"{largest.per_node(part):.2f} of {largest.nodes}"
        for part in largest.seconds
        if largest.per_node(part) > 1.5 * least.per_node(part) + 0.05
    ]


def _size(result: Result) -> int:
    return result.nodes
