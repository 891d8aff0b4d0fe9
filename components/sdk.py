"""Which engine may run the program, and what its SDK sends there."""

import os

import pulumi

REQUIRED = ">=3.238.0"
"""Older ones only warn where an after hook fails, so a rollout would go on after a node that is not back. Pulumi.yaml
says the same; this is for engines that do not know that key yet, which are of 2025 and older."""
VARIABLE = "TALOS_STACKS_DEBUG"
"""Set to anything, it keeps the debug lines, which ``pulumi up --debug`` then shows."""


def require_engine() -> None:
    """Raise RunError under an engine that is older."""
    try:
        pulumi.require_pulumi_version(REQUIRED)
    except Exception as error:  # the SDK has no class of its own for it
        raise pulumi.RunError(
            f"pulumi {REQUIRED} is needed, because older ones do not stop a rollout that fails; this one says: {error};"
            " update it, or run `.venv/bin/python -m engine` in its place"
        ) from None


def leave_out_debug_lines() -> None:
    """Send no debug lines unless the environment asks: they are half the time of a preview, and the engine drops them.

    There are several for each resource, each of them a call that the program waits for.
    """
    if not os.environ.get(VARIABLE):
        pulumi.log.debug = lambda *_, **__: None
