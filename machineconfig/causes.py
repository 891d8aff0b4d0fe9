"""The files and lines behind fields of the nodes of a plan."""

from findings import written
from machineconfig.generation import arguments, given
from machineconfig.origins import Origins, origins
from machineconfig.paths import MAIN, find
from machineconfig.placeholder import placeholder_bundle
from machineconfig.plan import Plan
from machineconfig.trace import Origin
from machinery import ConfigError


class Causes:
    """Looks up what sets a field, each node at the first question."""

    def __init__(self, plan: Plan, stack: str) -> None:
        """Nothing is looked up yet."""
        self._plan, self._file = plan, f"Pulumi.{stack}.yaml"
        self._origins: dict[str, Origins | None] = {}

    def of(self, name: str, place: str) -> str:
        """Return the file and line that set a field of a node now, or deleted it; that nobody does, otherwise."""
        if name not in self._origins:
            self._origins[name] = self._made(name)
        found = self._origins[name]
        if found is None:
            return "machine configuration"
        title, path = find(found.documents, place) or (MAIN, tuple(place.split(".")))
        return str(found.origin(title, path) or "no file sets it")

    def _made(self, name: str) -> Origins | None:
        plan, node = self._plan, self._plan.topology.node(name)
        files = {
            path: Origin("", title=f"{self._file}, {written(keys[0])}")
            for path, keys in given(plan.topology, node).items()
        }
        try:
            patches = plan.patches[name]
            return origins(arguments(plan.topology, node, patches, placeholder_bundle()), patches, files)
        except ConfigError:  # it can need the real value of a secret, where the plan has a mark
            return None
