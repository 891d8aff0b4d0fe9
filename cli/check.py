"""`talos-stacks check`: everything that is wrong with stacks, without an engine, credentials or a network."""

import argparse
from collections.abc import Iterator
from typing import Any

from cli.errors import CliError
from cli.options import Parsers, command, output_option, selected, stack_option
from cli.stackfile import StackFile
from cli.terminal import paint, say, say_json, warn
from machineconfig import Finding, PlanError, make_plan
from machineconfig.checks import RULES
from topology import Fault

_ABOUT = """Check stacks as a preview does, but from their files alone: the stack file, the rendered patches of all
nodes and their final configurations. Everything that is wrong is said at once, each with the file and line, the node,
the value and the remedy. Where talosctl is on PATH, Talos's own validator runs too.

A finding ends with the id of its check in brackets; where it is right as it is, the stack file waives it:
  waivers:
    - { rule: worker-taint, node: worker-01, reason: the cloud controller removes the taint }"""
_EPILOG = """examples:
  talos-stacks check
  talos-stacks check --stack prod
  talos-stacks check --output json | jq -r '.findings[].rule'
  talos-stacks check --rules

exit codes:
  0  nothing is wrong
  1  an error: a stack could not be checked, stderr says why
  2  there are findings"""
_FOUND = 2


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = command(parsers, "check", run, summary="say what is wrong with stacks", about=_ABOUT, epilog=_EPILOG)
    stack_option(parser)
    output_option(parser)
    parser.add_argument("--rules", action="store_true", help="list the checks, with the ids that waivers name")


def run(options: argparse.Namespace) -> int:
    """Check the stacks that are asked for."""
    if options.rules:
        return _rules(options)
    files = selected(options)
    found = [(file, found) for file in files for found in _found(file)]
    if options.output == "json":
        say_json({"stacks": [file.name for file in files], "findings": [_plain(*each) for each in found]})
    else:
        for line in _lines(files, found):
            say(line)
    return _FOUND if found else 0


def _rules(options: argparse.Namespace) -> int:
    if options.output == "json":
        say_json([{"rule": rule, "says": says} for rule, says in RULES.items()])
        return 0
    widest = max(map(len, RULES))
    for rule, says in RULES.items():
        say(f"{paint(rule.ljust(widest), 'bold')}  {says}")
    return 0


def _found(file: StackFile) -> tuple[Fault | Finding, ...]:
    if file.cluster is None:
        raise CliError(f"{file.path.name} has no key talos-stacks:cluster")
    try:
        plan = make_plan(file.cluster, patches=file.folder / "patches")
    except PlanError as error:
        return error.found
    for warning in plan.warnings:
        warn(f"{file.path.name}: {warning}")
    return ()


def _lines(files: tuple[StackFile, ...], found: list[tuple[StackFile, Fault | Finding]]) -> Iterator[str]:
    for file in files:
        mine = [each for other, each in found if other is file]
        if not mine:
            yield f"{file.name}: {paint('nothing is wrong', 'green')}"
            continue
        yield f"{file.name}: {paint('1 finding' if len(mine) == 1 else f'{len(mine)} findings', 'red')}"
        for each in mine:
            yield f"  {each}" if isinstance(each, Finding) else f"  {file.path.name}: {each}"


def _plain(file: StackFile, found: Fault | Finding) -> dict[str, Any]:
    """A finding for programs. `node` is as it is said: several names, or null where it is no node's own."""
    if isinstance(found, Finding):
        return {
            "stack": file.name,
            "rule": found.rule or None,
            "node": found.node or None,
            "file": f"patches/{found.source}" if found.source else None,
            "line": found.line,
            "value": found.value or None,
            "message": found.message,
            "remedy": found.remedy,
        }
    return {
        "stack": file.name,
        "rule": None,
        "node": None,
        "file": file.path.name,
        "line": None,
        "path": found.path,
        "value": found.value or None,
        "message": found.message,
        "remedy": found.cure,
    }
