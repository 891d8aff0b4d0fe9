"""The SDK's debug lines: several for each resource, each of them a call that the program waits for."""

import os

import pulumi

VARIABLE = "TALOS_STACKS_DEBUG"
"""Set to anything, it keeps the lines, which ``pulumi up --debug`` then shows."""


def leave_out_debug_lines() -> None:
    """Send none unless the environment asks: they are half the time of a preview, and the engine drops them."""
    if not os.environ.get(VARIABLE):
        pulumi.log.debug = _nothing


def _nothing(*_: object, **__: object) -> None:
    """Take the place of ``pulumi.log.debug``."""
