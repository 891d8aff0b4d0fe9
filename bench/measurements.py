"""One size of cluster, measured: previews of a new and of a living stack, the bring-up between them, the floors."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench import floors
from bench.chain import Chain, chain, read
from bench.processes import CommandError, Cost, Use
from bench.stage import Stage, staged

Say = Callable[[str], None]


@dataclass
class Previews:
    """Previews of the cluster and of the bare programs, over the same kind of state."""

    cluster: list[Cost] = field(default_factory=list)
    bare: list[Cost] = field(default_factory=list)
    mixed: list[Cost] = field(default_factory=list)


@dataclass
class Measurement:
    """All there is to say of one size; every list holds one cost a round."""

    nodes: int
    resources: int
    custom: int
    new: Previews
    living: Previews
    calls: dict[int, list[Cost]]
    up: Cost
    bare_up: Cost
    chain: Chain

    @property
    def calls_wall(self) -> float:
        """The faster way to make the calls, one after the other or eight at once, in seconds."""
        return min(wall(costs) for costs in self.calls.values())

    def ratio(self, previews: Previews) -> float:
        """How many times the sum of the floors a preview takes."""
        return wall(previews.cluster) / (wall(previews.bare) + self.calls_of(previews))

    def ratio_to_mixed(self, previews: Previews) -> float:
        """The same, where as many of the floor's resources are custom ones as of the cluster's."""
        return wall(previews.cluster) / (wall(previews.mixed) + self.calls_of(previews))

    def calls_of(self, previews: Previews) -> float:
        """Seconds of calls that these previews need: none on a new stack, which has no secrets yet."""
        return 0.0 if previews is self.new else self.calls_wall


def wall(costs: list[Cost]) -> float:
    """Return the median wall time, in seconds."""
    return median(cost.wall for cost in costs)


def use(costs: list[Cost], kind: str) -> Use:
    """Return the median CPU time and the largest memory of a kind of process."""
    uses = [cost.uses.get(kind, Use()) for cost in costs]
    return Use(median(one.cpu for one in uses), max(one.memory for one in uses))


def measure(nodes: int, rounds: int, say: Say) -> Measurement:
    """Measure one size. Rounds of the cluster and of the floors take turns, so that a busy machine slows all."""
    with staged(nodes) as stage:
        resources, custom = _resources(stage.preview())  # also reads and compiles what only the first run does
        new, living = Previews(), Previews()
        bare = floors.bare_project(stage.folder / "bare", floors.components(resources))
        mixed = floors.bare_project(
            stage.folder / "mixed", floors.mixed(resources, custom, stage.topology["imageFactory"])
        )
        for project in (bare, mixed):
            stage.pulumi("stack", "init", project=project)
        _take_turns(stage, bare, mixed, new, rounds)
        say(
            f"{nodes} nodes: preview of a new stack {wall(new.cluster):.1f} s, as many resources {wall(new.bare):.1f} s"
        )
        up = stage.up()
        waits = chain(read(stage.run.journal), float(stage.run.settings()["speed"]))
        say(f"{nodes} nodes: up {up.wall:.1f} s, of which the machines' longest chain is {waits.seconds:.1f} s")
        bare_up = stage.up(bare)
        stage.up(mixed)
        _take_turns(stage, bare, mixed, living, rounds)
        calls = floors.Calls(stage).measure(rounds)
        found = Measurement(nodes, resources, custom, new, living, calls, up, bare_up, waits)
        say(
            f"{nodes} nodes: preview of the living stack {wall(living.cluster):.1f} s, as many resources "
            f"{wall(living.bare):.1f} s, as many configurations {found.calls_wall:.1f} s"
        )
        return found


def _resources(preview: Cost) -> tuple[int, int]:
    """Return how many resources the program registers beside the stack, and how many of them are custom ones."""
    found = re.search(r"(\d+) to create", preview.output)
    if not found:
        raise CommandError(f"a preview of a new stack creates nothing:\n{preview.output[-2000:]}")
    return int(found[1]) - 1, len(
        re.findall(r"^ \+ +(?:talos(?:-lifecycle)?|pulumi:providers):\S+ \S+ create", preview.output, re.M)
    )


def _take_turns(stage: Stage, bare: Path, mixed: Path, previews: Previews, rounds: int) -> None:
    for _ in range(rounds):
        previews.bare.append(stage.preview(bare))
        previews.mixed.append(stage.preview(mixed))
        previews.cluster.append(stage.preview())
