"""What a change of its configuration does not do to a machine that lives: said at preview already."""

from typing import Any

import pulumi

from machineconfig.causes import Causes
from machineconfig.checks.living import changed_bootstrap_fields

_INPUT = "machineConfigurationInput"


def telling(causes: Causes) -> pulumi.ResourceHook:
    """Return a hook before a change of a configuration that warns of changed fields that are not read again.

    The engine knows the configuration that was applied, and gives it to the hook in a preview too. A hook that fails
    stops nothing.
    """
    said: set[str] = set()

    async def tell(args: pulumi.ResourceHookArgs) -> None:
        old, new = await _text(args.old_inputs), await _text(args.new_inputs)
        for field in changed_bootstrap_fields(old, new) if old and new else ():
            # What one line makes of all nodes of a role is said once.
            of_all, cause = field.path.startswith("cluster."), causes.of(args.name, field.path)
            key = f"{cause} {field}" if of_all else f"{args.name} {field}"
            if key not in said:
                said.add(key)
                pulumi.log.warn(f"{cause} ({args.name}{' and others alike' if of_all else ''}): {field}")

    return pulumi.ResourceHook(
        "what is not read again", tell, pulumi.ResourceHookOptions(on_dry_run=True, ignore_errors=True)
    )


async def _text(inputs: Any) -> str:
    """Return the configuration; nothing where it is not known yet."""
    value = await pulumi.Output.from_input((inputs or {}).get(_INPUT)).future()
    return value if isinstance(value, str) else ""
