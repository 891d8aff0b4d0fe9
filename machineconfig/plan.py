"""Everything that follows from a stack file without an engine: topology, images, rendered patches, and the checks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from findings import Finding, FindingsError
from machineconfig.checks import check_all
from machineconfig.model import Patch
from machineconfig.render import render_what_can_be
from machineconfig.schematic import Schematic
from topology import Topology, TopologyError, load


@dataclass(frozen=True)
class Plan:
    """A topology without faults and what follows from it."""

    topology: Topology
    schematics: Mapping[str, Schematic]
    """By node name."""
    patches: Mapping[str, tuple[Patch, ...]]
    """By node name, in the order in which they apply."""
    warned: tuple[Finding, ...] = field(default=(), kw_only=True)
    """What Talos would warn of, and secrets in clear."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is allowed and worth a second look."""
        return tuple(map(str, (*self.topology.warnings, *self.warned)))

    @property
    def secrets(self) -> Mapping[str, str]:
        """The secrets that patches ask for by name, each with the first file that does."""
        asked: dict[str, str] = {}
        for patch in (patch for node in self.topology.nodes for patch in self.patches.get(node.name, ())):
            for name in sorted(patch.secrets):
                asked.setdefault(name, patch.file)
        return asked

    @property
    def is_complete(self) -> bool:
        """Whether every node's patches could be rendered."""
        return len(self.patches) == len(self.topology.nodes)


class PlanError(FindingsError):
    """A stack that is refused, with findings of the stack file, or, where it has none, of what was rendered from it.

    `plan` is then what was made nevertheless, for whoever has something to add.
    """

    def __init__(self, findings: Iterable[Finding], plan: Plan | None = None) -> None:
        """Take everything that is wrong, in the order in which it is to be read."""
        super().__init__(findings)
        self.plan = plan


def make_plan(raw_cluster: object, *, patches: Path) -> Plan:
    """Load the value of a stack file's key `cluster`, render the files below `patches`, and check what came out.

    Placeholders stand for secrets, so that nothing in the plan is one. Raises PlanError with every fault.
    """
    try:
        topology = load(raw_cluster)
    except TopologyError as error:
        raise PlanError(error.findings) from None
    schematics = {node.name: Schematic.of(topology.image_of(node)) for node in topology.nodes}
    rendered, findings = render_what_can_be(topology, root=patches)
    checked = check_all(topology, rendered, complete=not findings)
    plan = Plan(topology, schematics, rendered, warned=checked.warnings)
    if found := (*findings, *checked.found):
        raise PlanError(found, plan)
    return plan
