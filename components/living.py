"""What a change of its configuration does not do to a machine that lives: said at preview already."""

from typing import Any

import pulumi

from machineconfig.checks.living import changed_bootstrap_fields

_INPUT = "machineConfigurationInput"


def telling(gates: pulumi.ResourceHookBinding) -> pulumi.ResourceHookBinding:
    """Return the gates with a hook before them that warns of changed fields that are not read again.

    The engine knows the configuration that was applied, and gives it to the hook in a preview too. A hook that fails
    stops nothing.
    """
    said: set[str] = set()

    async def tell(args: pulumi.ResourceHookArgs) -> None:
        old, new = await _text(args.old_inputs), await _text(args.new_inputs)
        for field in changed_bootstrap_fields(old, new) if old and new else ():
            # The cluster's part is the same on all nodes of a role, and said once.
            line = str(field) if field.path.startswith("cluster.") else f"{args.name}: {field}"
            if line not in said:
                said.add(line)
                pulumi.log.warn(line)

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


async def _text(inputs: Any) -> str:
    """Return the configuration; nothing where it is not known yet."""
    value = await pulumi.Output.from_input((inputs or {}).get(_INPUT)).future()
    return value if isinstance(value, str) else ""
