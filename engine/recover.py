"""``python -m engine recover --stack STACK``: make a stack ready again after a run that was killed.

A killed run leaves its lock, and what it was making when it died stands in the state as pending. Owned here: telling a
lock that was left behind from one that is in use, and clearing both without a question. No resource is dropped: only
the stack itself is refreshed, no provider is asked. Refused: a lock that is or may be in use.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.messages import explained
from engine.processes import command_of
from engine.statefiles import SCHEME, StateFiles

LOCK = re.compile(r"created by (?P<user>.+)@(?P<host>[^@]+) \(pid (?P<pid>\d+)\) at (?P<since>\S+)")
"""One lock in the engine's message on a file or bucket backend."""
LOCKED = re.compile(r"currently locked by|another update is currently in progress", re.I)
REPEATABLE = ("pulumi:", "talos-stacks:", "talos:")
"""Types whose creation can be repeated, because nothing outside the state is made twice: secrets, a schematic and a
configuration that come out the same, a bootstrap that is looked for first, a kubeconfig that is read."""


class RecoverError(Exception):
    """The stack was left as it is; the text says why and what to do."""


@dataclass(frozen=True)
class Holder:
    """Who holds a lock, as far as the backend tells."""

    host: str
    pid: int
    text: str

    def alive(self) -> bool | None:
        """Tell whether the run is still running; None where that cannot be seen from here."""
        if self.host != socket.gethostname():
            return None
        return "pulumi" in command_of(self.pid)


UNKNOWN = Holder("", 0, "the backend does not say by whom")


class Stack:
    """One stack, through the command line of the engine; its questions are never asked."""

    def __init__(self, engine: Path, name: str) -> None:
        """Work on the stack ``name`` with this ``pulumi``."""
        self._engine = engine
        self.name = name

    def pulumi(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run ``pulumi ARGUMENTS`` on this stack; its output may hold ciphertexts, never a secret."""
        command = [str(self._engine), *arguments, "--stack", self.name, "--non-interactive", "--color", "never"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def deployment(self) -> dict[str, Any]:
        """Return the state, secrets encrypted."""
        ended = self.pulumi("stack", "export")
        if ended.returncode:
            raise RecoverError(said(ended))
        found: dict[str, Any] = json.loads(ended.stdout).get("deployment") or {}
        return found

    def clear(self, deployment: dict[str, Any]) -> list[Holder] | None:
        """Clear pending operations; where a lock forbids it, return who holds it (empty: the backend does not say)."""
        # Without a target every resource would be read again, and one that a provider does not find would be dropped.
        roots = [r["urn"] for r in deployment.get("resources", []) if r["type"] == "pulumi:pulumi:Stack"]
        target = [argument for urn in roots for argument in ("--target", urn)]
        ended = self.pulumi("refresh", "--yes", "--skip-preview", "--clear-pending-creates", *target)
        if ended.returncode == 0:
            return None
        text = said(ended)
        if not LOCKED.search(text):
            raise RecoverError(text)
        return holders_in(text)

    def files(self) -> StateFiles | None:
        """Return the files of the state, None where the backend keeps it elsewhere."""
        ended = subprocess.run([self._engine, "whoami", "--json"], capture_output=True, text=True, check=False)
        url = str(json.loads(ended.stdout)["url"]) if ended.returncode == 0 else ""
        return StateFiles(url, self.name) if url.startswith(SCHEME) else None

    def unlock(self) -> None:
        """Remove every lock."""
        ended = self.pulumi("cancel", "--yes")
        if ended.returncode:
            raise RecoverError(said(ended))


def recover(stack: Stack, force: bool) -> list[str]:
    """Return what was done, a line each. Raises RecoverError when a run is or may be still running."""
    done = remove_unreadable(stack, force)
    deployment = stack.deployment()
    holders = stack.clear(deployment)
    if holders is not None:
        refuse_living(stack, holders or [UNKNOWN], force)
        stack.unlock()
        done += [f"lock removed: {holder.text}" for holder in holders or [UNKNOWN]]
        deployment = stack.deployment()  # as the killed run left it at last
        if stack.clear(deployment) is not None:
            raise RecoverError(f"another run of {stack.name} has started in the meantime; nothing more was changed")
    return done + [line for operation in deployment.get("pending_operations") or [] for line in cleared(operation)]


def remove_unreadable(stack: Stack, force: bool) -> list[str]:
    """Remove what a killed run left half written, which can stop every other command."""
    files = stack.files()
    broken = files.unreadable() if files else []
    if not files or not broken:
        return []
    refuse_living(stack, holders_in("\n".join(files.locks())), force)
    for path in broken:
        path.unlink(missing_ok=True)
    return [f"removed, half written: {path}" for path in broken]


def holders_in(text: str) -> list[Holder]:
    """Return who holds locks according to the engine."""
    return [Holder(found["host"], int(found["pid"]), found[0]) for found in LOCK.finditer(text)]


def refuse_living(stack: Stack, holders: Sequence[Holder], force: bool) -> None:
    """Raise RecoverError unless every holder is dead; ``force`` vouches for those that cannot be seen from here."""
    for holder in holders:
        if holder.alive():
            raise RecoverError(
                f"a run of {stack.name} is still running: {holder.text}; nothing was changed. Wait for it, or"
                " interrupt it with Ctrl-C, which lets it finish its steps and write its state"
            )
    unseen = [holder.text for holder in holders if holder.alive() is None]
    if unseen and not force:
        who = "; ".join(unseen)
        raise RecoverError(
            f"{stack.name} is locked ({who}), and from here it cannot be seen whether that run is still running;"
            f" nothing was changed. When it is dead: make recover STACK={stack.name} FORCE=yes"
        )


def cleared(operation: dict[str, Any]) -> list[str]:
    """Say what a cleared operation means for the next run."""
    resource = operation["resource"]
    what = f"{resource['type']} {resource['urn'].rpartition('::')[2]}"
    lines = [f"no longer pending, interrupted while {operation['type']}: {what}"]
    if operation["type"] == "creating" and not resource["type"].startswith(REPEATABLE):
        lines.append(
            "  it may exist without being in the state, with nothing on it yet: if the next run says that it already"
            " exists, remove it there and run again"
        )
    return lines


def said(ended: "subprocess.CompletedProcess[str]") -> str:
    """Return what a failed command printed."""
    return "\n".join(part.strip() for part in (ended.stdout, ended.stderr) if part.strip())


def main(engine: Path, arguments: Sequence[str]) -> int:
    """Return 0 when the stack is ready for the next run, 1 when it was left alone."""
    parser = argparse.ArgumentParser(prog="recover", description=__doc__)
    parser.add_argument("--stack", default=os.environ.get("PULUMI_STACK"), required="PULUMI_STACK" not in os.environ)
    parser.add_argument("--force", action="store_true", help="the run that holds the lock is dead")
    options = parser.parse_args(arguments)
    try:
        done = recover(Stack(engine, options.stack), options.force)
    except RecoverError as error:
        sys.stderr.write(f"{explained(str(error), options.stack) or error}\n")
        return 1
    for line in done or ["nothing to recover"]:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{options.stack} is ready for the next run\n")
    return 0
