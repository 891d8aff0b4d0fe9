"""What the engine says of a stack that it does not find, in words that say what to do."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

ABOUT_A_STACK = ("preview", "up")
"""Commands of the engine that would ask questions before they say that there is no stack."""
NOWHERE = re.compile("PULUMI_ACCESS_TOKEN|not logged in|must be logged in", re.I)
NO_STACK = re.compile("no stack (named|selected)", re.I)


def obstacle(engine: Path, arguments: Sequence[str]) -> str:
    """Return why a command finds no stack, empty where it does or where the engine says it well."""
    if len(arguments) != 3 or arguments[0] not in ABOUT_A_STACK or arguments[1] != "--stack":
        return ""
    stack = arguments[2]
    command = [str(engine), "stack", "--show-name", "--non-interactive", "--stack", stack]
    asked = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return explained(asked.stderr, stack) if asked.returncode else ""


def explained(said: str, stack: str) -> str:
    """Return what an error of the engine means for a stack, empty where it is about something else."""
    pulumi = "pulumi" if shutil.which("pulumi") else ".venv/bin/python -m engine"
    if NOWHERE.search(said):
        return f"pulumi is not logged in: log in to the backend of {stack} with `{pulumi} login`"
    if NO_STACK.search(said):
        return (
            f"the stack {stack} has no state here: create it with `{pulumi} stack init {stack}`, or log in to its"
            f" backend with `{pulumi} login`"
        )
    return ""
