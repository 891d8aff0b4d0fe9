"""What a change of its configuration does not do to a machine that lives: said at preview already."""

from typing import Any

import pulumi

from machineconfig import Plan
from machineconfig.checks.living import ReadOnce, changed_bootstrap_fields
from machineconfig.generation import arguments, given
from machineconfig.marks import placeholder_bundle
from machineconfig.origins import Origins, origins
from machineconfig.paths import MAIN, find
from machineconfig.trace import Origin
from machinery import ConfigError

_INPUT = "machineConfigurationInput"


def telling(gates: pulumi.ResourceHookBinding, causes: "Causes") -> pulumi.ResourceHookBinding:
    """Return the gates with a hook before them that warns of changed fields that are not read again.

    The engine knows the configuration that was applied, and gives it to the hook in a preview too. A hook that fails
    stops nothing.
    """
    said: set[str] = set()

    async def tell(args: pulumi.ResourceHookArgs) -> None:
        old, new = await _text(args.old_inputs), await _text(args.new_inputs)
        for field in changed_bootstrap_fields(old, new) if old and new else ():
            # What one line makes of all nodes of a role is said once.
            of_all, cause = field.path.startswith("cluster."), causes.of(args.name, field)
            key = f"{cause} {field}" if of_all else f"{args.name} {field}"
            if key not in said:
                said.add(key)
                pulumi.log.warn(f"{cause} ({args.name}{' and others alike' if of_all else ''}): {field}")

    told = pulumi.ResourceHook(
        "what is not read again", tell, pulumi.ResourceHookOptions(on_dry_run=True, ignore_errors=True)
    )
    return pulumi.ResourceHookBinding(
        before_create=gates.before_create,
        after_create=gates.after_create,
        before_update=[told, *(gates.before_update or ())],
        after_update=gates.after_update,
        before_delete=gates.before_delete,
        after_delete=gates.after_delete,
        on_error=gates.on_error,
    )


class Causes:
    """The files and lines that set the fields of the nodes' configurations, looked up when a change is told."""

    def __init__(self, plan: Plan, stack: str) -> None:
        """Nothing is looked up yet."""
        self._plan, self._file = plan, f"Pulumi.{stack}.yaml"
        self._origins: dict[str, Origins | None] = {}

    def of(self, name: str, field: ReadOnce) -> str:
        """Return the file and line that set a field of a node now, or deleted it; that nobody does, otherwise."""
        if name not in self._origins:
            self._origins[name] = self._made(name)
        found = self._origins[name]
        if found is None:
            return "machine configuration"
        place = find(found.documents, field.path) or (MAIN, tuple(field.path.split(".")))
        return str(found.origin(*place) or "no file sets it")

    def _made(self, name: str) -> Origins | None:
        plan, node = self._plan, self._plan.topology.node(name)
        files = {
            path: Origin("", title=f"{self._file}, {keys[0]}") for path, keys in given(plan.topology, node).items()
        }
        try:
            patches = plan.patches[name]
            return origins(arguments(plan.topology, node, patches, placeholder_bundle()), patches, files)
        except ConfigError:  # it can need the real value of a secret, where the plan has a mark
            return None


async def _text(inputs: Any) -> str:
    """Return the configuration; nothing where it is not known yet."""
    value = await pulumi.Output.from_input((inputs or {}).get(_INPUT)).future()
    return value if isinstance(value, str) else ""
