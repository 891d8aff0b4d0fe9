"""Where the state of a stack is when a lab of it is up: inside, where a command from outside does not look."""

import json
import os
from pathlib import Path

from cli.stackfile import StackFile
from engine.processes import command_of


def hint(stack: StackFile) -> str:
    """What to add to an error about the state of a stack; empty without a lab of it, and inside."""
    if os.environ.get("LAB_STACK") == stack.name or not _is_up(stack):
        return ""
    return (
        f". A lab of {stack.name} is up and has a state of its own: for that one, run this in"
        f" `make lab-shell STACK={stack.name}`, or after `.venv/bin/python -m lab run {stack.name} --`"
    )


def _is_up(stack: StackFile) -> bool:
    """Whether a lab noted its process in its folder, and that is still there."""
    home = Path(os.environ.get("LAB_HOME") or stack.folder / ".lab")
    try:
        noted = json.loads((home / stack.name / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(noted, dict) or noted.get("ending"):
        return False
    return isinstance(noted.get("pid"), int) and bool(command_of(noted["pid"]))
