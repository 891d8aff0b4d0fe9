"""Talking to a running world over its socket: one JSON line asks, one JSON line answers.

Usable from plugins, tests and the command line. The socket is named by ``at`` or by LAB_SOCKET in the environment.
"""

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

VARIABLE = "LAB_SOCKET"
TIMEOUT = 60.0
"""Seconds to wait for an answer."""

On: TypeAlias = "Mapping[str, Mapping[str, Any]]"
"""Faults that are on, with their arguments."""


class ControlError(Exception):
    """What the world refuses, or that there is no world."""


def call(request: str, *, at: Path | str | None = None, **arguments: Any) -> Any:
    """Ask the world for something and return its answer; raises ControlError with the world's own words."""
    path = str(at or os.environ.get(VARIABLE, ""))
    if not path:
        raise ControlError(f"{VARIABLE} is not set: this runs outside the lab")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(TIMEOUT)
            connection.connect(path)
            connection.sendall(json.dumps({"request": request, **arguments}).encode() + b"\n")
            with connection.makefile("rb") as answers:
                line = answers.readline()
    except OSError as error:
        raise ControlError(f"no lab answers at {path} ({error.strerror or error}); `make lab` starts one") from error
    if not line:
        raise ControlError(f"the lab ended while it worked on {request}")
    answer = json.loads(line)
    if "error" in answer:
        raise ControlError(str(answer["error"]))
    return answer["result"]


def machines(*, at: Path | str | None = None) -> list[dict[str, Any]]:
    """Return the description of every machine, in the order in which they were made."""
    found: list[dict[str, Any]] = call("machines", at=at)
    return found


def create_machine(hardware: Mapping[str, Any], *, power: bool = True, at: Path | str | None = None) -> dict[str, Any]:
    """Make a machine and begin to boot it; return its description at once."""
    made: dict[str, Any] = call("create", hardware=dict(hardware), power=power, at=at)
    return made


def delete_machine(name: str, *, at: Path | str | None = None) -> bool:
    """Destroy the machine with this uuid, name or address; return whether there was one."""
    return bool(call("delete", machine=name, at=at))


def power(name: str, state: str, *, at: Path | str | None = None) -> dict[str, Any]:
    """Turn a machine ``on`` or ``off``, or ``cycle`` it as pulling its plug does."""
    described: dict[str, Any] = call("power", machine=name, state=state, at=at)
    return described


def fault(
    name: str, kind: str, arguments: Mapping[str, float] | None = None, *, at: Path | str | None = None
) -> tuple[str, On]:
    """Switch a fault on for a machine; return its name and the faults that are on then."""
    return _faults(call("fault", machine=name, fault=kind, arguments=dict(arguments or {}), at=at))


def clear_fault(name: str, kind: str | None = None, *, at: Path | str | None = None) -> tuple[str, On]:
    """Switch one fault of a machine off, or all of them; return its name and the faults that are on then."""
    return _faults(call("clear", machine=name, fault=kind, at=at))


def _faults(answer: Mapping[str, Any]) -> tuple[str, On]:
    return str(answer["name"]), answer["faults"]


def status(*, at: Path | str | None = None) -> dict[str, Any]:
    """Return machines, faults, violations and where the world listens."""
    found: dict[str, Any] = call("status", at=at)
    return found


def shutdown(*, at: Path | str | None = None) -> None:
    """Power everything off and end the world."""
    call("shutdown", at=at)
