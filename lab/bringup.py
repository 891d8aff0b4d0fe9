"""Bringing a stack up in its lab: check it, start its world, run the program, and say what comes next."""

import subprocess
import sys
import time

from engine.locks import hold
from engine.recover import holders_in
from engine.statefiles import StateFiles
from lab import lifecycle, report
from lab.errors import LabError
from lab.inside import execute
from lab.lifecycle import Say
from lab.plugins import with_lab
from lab.run import Run
from lab.stackfile import StackFile


def up(run: Run, stack: StackFile, say: Say) -> int:
    """Return the exit code of ``pulumi up``. A second one waits for the first, then finds the cluster there.

    Raises LabError when the lab cannot hold the stack or the stack has findings; nothing was started then.
    """
    lifecycle.check_platform(stack)
    check(stack)
    with hold(run.lock("up"), lambda: say(f"==> waiting: another command brings {run.stack} up")):
        began = time.monotonic()
        lifecycle.start(run, stack, say)
        say(f"==> pulumi up --stack {run.stack}   ({time.monotonic() - began:.1f} s)")
        code = execute(run, ["pulumi", "up", "--yes", "--skip-preview", "--stack", run.stack])
        if code:
            say(f"\n{what_next(run)}")
        else:
            report.write_credentials(run)
            say(report.summary(run, time.monotonic() - began))
    return code


def check(stack: StackFile) -> None:
    """Show what ``talos-stacks check`` says of a stack; raises LabError when it finds anything.

    A process of its own: the lab knows nothing of the program's rooms. Secrets may be missing: the lab makes them up.
    """
    command = [*with_lab(), sys.executable, "-P", "-m", "cli", "check", "--without-secrets"]
    command += ["--project", str(stack.path.parent), "--stack", stack.name]
    if subprocess.run(command, check=False).returncode:
        raise LabError("nothing was started")


def what_next(run: Run) -> str:
    """Say what there is to look at, and to do, after a run that failed."""
    if not lifecycle.alive(run):
        return f"The lab of {run.stack} was ended in the meantime."
    here = f"The lab stays up: `make lab-status STACK={run.stack}` shows its machines, {run.journal} their events."
    again = f"Again: make rehearse STACK={run.stack}"
    return "\n".join([here, cure(run), again] if was_killed(run) else [here, again])


def was_killed(run: Run) -> bool:
    """Tell whether an engine died in the middle of a run: the next one fails until the stack is recovered."""
    files = StateFiles(run.backend, run.stack)
    holders = holders_in("\n".join(files.locks()))
    if any(holder.alive() for holder in holders):  # it is still running
        return False
    return bool(holders or files.unreadable() or files.pending())


def cure(run: Run) -> str:
    """Say what makes the stack ready again."""
    return (
        f"A run of {run.stack} was killed before it was done. Before the next one:\n"
        f"  .venv/bin/python -m lab run {run.stack} -- make recover STACK={run.stack}"
    )
