"""``python -m lab``: bring a stack up in the lab, work in it, and end it without leaving anything behind."""

import argparse
import os
import sys
from pathlib import Path

from engine import ROOT
from engine.tools import ToolError
from lab import bringup, control, lifecycle, report, settings
from lab.errors import LabError
from lab.faults import KINDS
from lab.inside import execute
from lab.namespace import NamespaceError
from lab.run import STACK_NAME, Run
from lab.stackfile import StackError, StackFile, path_of, read

ERRORS = (LabError, StackError, ToolError, NamespaceError, control.ControlError)
"""What is said in one sentence and ends with code 1."""


def main(arguments: list[str] | None = None) -> int:
    """Return the exit code: 0, 1 when the lab refuses, 2 for a wrong command line, or that of the command inside."""
    options = parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except ERRORS as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return code


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    top = argparse.ArgumentParser(prog="lab", description=__doc__)
    top.add_argument("--project", type=Path, default=ROOT, help="the folder with Pulumi.yaml (default: this checkout)")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: object, text: str, stack: str = "one") -> argparse.ArgumentParser:
        found = commands.add_parser(name, help=text, description=text)
        found.set_defaults(run=run)
        if stack == "one":
            found.add_argument("stack", type=stack_name, help="the stack's name, as in Pulumi.<stack>.yaml")
        elif stack == "any":
            found.add_argument(
                "stack", nargs="?", type=stack_name, help="the stack's name (default: every lab that is up)"
            )
        return found

    command("up", up, "start the lab of a stack and bring its cluster up with pulumi")
    command("start", start, "start the lab of a stack without bringing anything up")
    inside = command("run", run_inside, "run a command inside the lab of a stack: lab run STACK -- pulumi preview")
    inside.add_argument("command", nargs=argparse.REMAINDER, help="the command and its arguments, after --")
    command("shell", shell, "open a shell inside the lab of a stack")
    command("status", status, "show machines, services, faults and violated invariants", "any")
    down = command("down", end, "end the lab of a stack and remove what it left", "any")
    down.add_argument("--keep", action="store_true", help="keep the folder with journal, logs and state")
    fault = command("fault", switch_fault, "switch a fault of a machine on, or off with --clear")
    fault.add_argument("machine", help="the machine's name, address or uuid")
    fault.add_argument("fault", help=f"one of {', '.join(KINDS)}")
    fault.add_argument(
        "arguments", nargs="*", default=[], metavar="KEY=VALUE", help="numbers, like every=3 or seconds=30"
    )
    fault.add_argument("--clear", action="store_true", help="switch it off")
    power = command("power", switch_power, "turn a machine on or off, or power-cycle it as if its plug were pulled")
    power.add_argument("machine", help="the machine's name, address or uuid")
    power.add_argument("state", choices=["on", "off", "cycle"])
    return top


def stack_name(text: str) -> str:
    """Take the name of a stack."""
    if not STACK_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a stack")
    return text


def say(line: str) -> None:
    """Show a line of progress."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def complain(line: str) -> None:
    """Show a line where it does not mix with what a command inside prints."""
    sys.stderr.write(f"{line}\n")


def opened(options: argparse.Namespace) -> tuple[Run, StackFile]:
    """Read the stack file of the command line, and refuse settings that nobody knows."""
    settings.check()
    stack = read(options.stack, options.project.resolve())
    return Run(stack.name), stack


def running(options: argparse.Namespace) -> Run:
    """Return the run of the command line's stack; raises LabError or StackError when its lab is not up."""
    run = Run(options.stack)
    if not lifecycle.alive(run):
        lifecycle.refuse_dead(run)
        path_of(run.stack, options.project)
        raise LabError(f"the lab of {run.stack} is not up; `make lab` or `make rehearse STACK={run.stack}` starts it")
    return run


def start(options: argparse.Namespace) -> int:
    """Start a world with an empty Pulumi stack in it."""
    lifecycle.start(*opened(options), say)
    return 0


def up(options: argparse.Namespace) -> int:
    """Start a world, run the program against it, and show what to do next."""
    return bringup.up(*opened(options), say)


def run_inside(options: argparse.Namespace) -> int:
    """Run any command in the lab, starting it first where there is none."""
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise LabError("lab run: name the command after --, like: lab run STACK -- pulumi preview")
    run = Run(options.stack)
    if not lifecycle.alive(run):
        lifecycle.refuse_dead(run)
        start(options)
    else:
        lifecycle.tell_ignored(run, complain)
    code = execute(run, command)
    if code and bringup.was_killed(run):
        complain(bringup.cure(run))
    return code


def shell(options: argparse.Namespace) -> int:
    """Open the user's shell inside."""
    run = running(options)
    lifecycle.tell_ignored(run, complain)
    say(f"==> a shell inside the lab of {run.stack}, for {report.enumerated(report.clients())}; leave with exit")
    return execute(run, [os.environ.get("SHELL") or "/bin/sh"])


def status(options: argparse.Namespace) -> int:
    """Show what is up; 1 when an invariant was violated or a lab died."""
    known = [running(options)] if options.stack else everything()
    runs = [run for run in known if lifecycle.alive(run)]
    deaths = {run.stack: death for run in known if (death := lifecycle.cause_of_death(run))}
    if not runs and not deaths:
        say("no lab is up; `make lab` starts one")
    for stack, death in deaths.items():
        say(f"the lab of {stack} died: {death}; `make lab-down STACK={stack}` removes what is left")
    violated = bool(deaths)
    for run in runs:
        found = control.status(at=run.socket)
        say(report.status(run, found))
        violated = violated or bool(found["violations"])
    return 1 if violated else 0


def end(options: argparse.Namespace) -> int:
    """End one lab or all; ending what is not there is fine, unless no stack has that name."""
    ended = 0
    for run in [Run(options.stack)] if options.stack else everything():
        if lifecycle.stop(run, say, options.keep):
            ended += 1
            say(f"==> the lab of {run.stack} is gone" + (f"; its folder stays: {run.folder}" if options.keep else ""))
    if options.stack and not ended:
        path_of(options.stack, options.project)
        say(f"the lab of {options.stack} is not up")
    return 0


def everything() -> list[Run]:
    """Return every run there is a folder of."""
    home = Run("none").home
    folders = sorted(home.iterdir()) if home.is_dir() else []
    return [Run(folder.name) for folder in folders if folder.is_dir() and STACK_NAME.fullmatch(folder.name)]


def switch_fault(options: argparse.Namespace) -> int:
    """Switch a fault on or off."""
    run = running(options)
    if options.clear:
        if options.arguments:
            raise LabError(f"--clear takes no numbers: leave out {' '.join(options.arguments)}")
        say(report.faults_line(*control.clear_fault(options.machine, options.fault, at=run.socket)))
        return 0
    arguments = dict(map(argument, options.arguments))
    if len(arguments) < len(options.arguments):
        raise LabError(f"{' '.join(options.arguments)}: each argument is given once")
    say(report.faults_line(*control.fault(options.machine, options.fault, arguments, at=run.socket)))
    return 0


def argument(text: str) -> tuple[str, float]:
    """Take one KEY=NUMBER of a fault; what it may be is the fault's own business."""
    key, _, value = text.partition("=")
    try:
        return key, float(value)
    except ValueError as error:
        raise LabError(f"{text}: a fault's argument is KEY=NUMBER, like every=3") from error


def switch_power(options: argparse.Namespace) -> int:
    """Turn a machine on or off."""
    say(report.machine_line(control.power(options.machine, options.state, at=running(options).socket)))
    return 0
