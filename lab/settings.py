"""The variables that say how a lab runs. A value that is not known is an error: in silence it would be the default."""

import contextlib
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine import ROOT
from lab.errors import LabError

HOME = "LAB_HOME"
"""The variable that moves the runs elsewhere."""
SPEED = 20.0
"""Simulated seconds in a real one, unless LAB_SPEED says otherwise."""
KNOWN = {
    "LAB_PLUGINS": ("real", "use the stand-in for the Talos provider"),
    "LAB_NETWORK": ("loopback", "seal the network where that is possible"),
    "LAB_IMPORT": ("yes", "make machine secrets up"),
}
"""The one value of each variable, and what is done without it."""


def chosen(variable: str) -> bool:
    """Tell whether a variable has its one value; raises LabError when it has another."""
    value, otherwise = KNOWN[variable]
    said = os.environ.get(variable)
    if said not in (None, "", value):
        raise LabError(f"{variable} is {said!r}; it can be {value!r}, or left out to {otherwise}")
    return said == value


def speed() -> float:
    """Return how fast simulated time goes; raises LabError for a LAB_SPEED that is none."""
    text = os.environ.get("LAB_SPEED") or str(SPEED)
    with contextlib.suppress(ValueError):
        found = float(text)
        if 0 < found < math.inf:
            return found
    raise LabError(f"LAB_SPEED is {text!r}; it must be a number above 0: simulated seconds per real second")


def home() -> Path:
    """Return the folder of the runs; raises LabError for a LAB_HOME that can be none."""
    said = os.environ.get(HOME) or str(ROOT / ".lab")
    try:
        found = Path(said).resolve()
        there = next(path for path in (found, *found.parents) if path.exists())
        reason = "" if there.is_dir() else f"{there} is a file"
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead to themselves
        reason = getattr(error, "strerror", None) or "its links lead to themselves"
    if not reason and os.pathsep in said:
        reason = f"PATH cannot hold a {os.pathsep!r}"
    if reason:
        raise LabError(f"{HOME} is {said!r}: {reason}; name a folder, or leave it out for .lab/ in the checkout")
    return found


def check() -> None:
    """Raise LabError for the first variable whose value is not known."""
    for variable in KNOWN:
        chosen(variable)
    speed()


def ignored(started: Mapping[str, Any]) -> list[str]:
    """Return the settings of now that a lab which was started with the settings ``started`` does not follow."""
    otherwise = {
        "LAB_PLUGINS": chosen("LAB_PLUGINS") and not started.get("real_plugins"),
        "LAB_NETWORK": chosen("LAB_NETWORK") and bool(started.get("sealed")),
        "LAB_SPEED": bool(os.environ.get("LAB_SPEED")) and speed() != started.get("speed"),
    }
    return [f"{variable}={os.environ[variable]}" for variable, differs in otherwise.items() if differs]
