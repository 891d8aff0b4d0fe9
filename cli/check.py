"""`talos-stacks check`: everything that is wrong with stacks, without an engine, credentials or a network."""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cli.all_stacks import doubts, of_no_stack, shared
from cli.keys import key_faults, key_warnings, missing_secrets
from cli.options import Parsers, command, names, output_option, project, stack_option
from cli.stackfile import StackFile, read
from cli.terminal import paint, say, say_json, warn
from findings import Finding, written
from machineconfig import Plan, PlanError, make_plan
from machineconfig.checks import RULES
from machineconfig.secrets_file import secrets_file
from stackfile import StackFileError

_ABOUT = """Check stacks as a preview does, but from their files alone: the stack file, the rendered patches of all
nodes and their final configurations. Everything that is wrong is said at once, each with the file and line, the node,
the value and the cure. Where talosctl is on PATH, Talos's own validator runs too.

Without --stack, patches for nodes and zones that no stack has are found too; it warns of patches that are empty for
every node, and of addresses, VMs and names that two stacks have.

A finding ends with the id of its check in brackets; where it is right as it is, the stack file waives it:
  waivers:
    - { check: worker-taint, node: worker-01, reason: the cloud controller removes the taint }"""
_EPILOG = """examples:
  talos-stacks check
  talos-stacks check --stack prod
  talos-stacks check --output json | jq -r '.findings[].check'
  talos-stacks check --rules

exit codes:
  0  nothing is wrong
  1  an error: nothing was checked, and stderr says why
  2  there are findings"""
_FOUND = 2


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = command(parsers, "check", run, summary="say what is wrong with stacks", about=_ABOUT, epilog=_EPILOG)
    stack_option(parser)
    output_option(parser)
    parser.add_argument(
        "--without-secrets",
        action="store_true",
        help="missing secrets are only warnings: before a rehearsal, or for CI that has none",
    )
    parser.add_argument("--rules", action="store_true", help="list the checks, with the ids that waivers name")


def run(options: argparse.Namespace) -> int:
    """Check the stacks that are asked for, and with all of them the patches that belong to none."""
    if options.rules:
        return _rules(options)
    folder = project(options)
    checked = [_read_and_check(name, folder, options.without_secrets) for name in names(options)]
    of_none, doubtful = ((), ()) if options.stack else _together(checked, folder / "patches")
    checked = [replace(each, found=tuple(found for found in each.found if found not in of_none)) for each in checked]
    if options.output == "json":
        found = [_plain(each.name, finding) for each in checked for finding in each.found]
        found += [_plain(None, finding) for finding in of_none]
        warnings = [_plain(each.name, warning) for each in checked for warning in each.warnings]
        warnings += [_plain(None, warning) for warning in doubtful]
        say_json({"stacks": [each.name for each in checked], "findings": found, "warnings": warnings})
    else:
        for line in _lines(checked, of_none):
            say(line)
    return _FOUND if of_none or any(each.found for each in checked) else 0


@dataclass(frozen=True)
class _Checked:
    """A stack with what is wrong with it; without a plan if the stack file is refused."""

    name: str
    found: tuple[Finding, ...]
    plan: Plan | None = None
    warnings: tuple[Finding, ...] = ()


def _rules(options: argparse.Namespace) -> int:
    if options.output == "json":
        say_json([{"check": check, "says": says} for check, says in RULES.items()])
        return 0
    widest = max(map(len, RULES))
    for rule, says in RULES.items():
        say(f"{paint(rule.ljust(widest), 'bold')}  {says}")
    return 0


def _read_and_check(name: str, folder: Path, without_secrets: bool) -> _Checked:
    try:
        return _check(read(name, folder), without_secrets)
    except StackFileError as error:
        return _Checked(name, error.findings)


def _check(file: StackFile, without_secrets: bool) -> _Checked:
    found: tuple[Finding, ...] = ()
    try:
        plan: Plan | None = make_plan(file.config["cluster"], patches=file.folder / "patches")
    except PlanError as error:
        plan, found = error.plan, error.findings
    if plan is None:
        return _Checked(file.name, tuple(map(file.located, (*file.faults, *_others(file, found)))))
    missing = tuple(missing_secrets(file, plan))
    imported = secrets_file(plan.topology, file.folder)
    warnings: tuple[Finding, ...] = (
        *plan.topology.warnings,
        *plan.warned,
        *key_warnings(file, plan),
        *(missing if without_secrets else ()),
        *((*imported.missing, *imported.warnings) if imported else ()),
    )
    for warning in warnings:
        warn(f"{file.path.name}: {warning}")
    demanded = () if without_secrets else missing
    of_import = imported.faults if imported else ()
    of_file = (*file.faults, *demanded, *key_faults(file, plan), *of_import)
    wrong = tuple(map(file.located, (*of_file, *found)))
    return _Checked(file.name, wrong, plan, tuple(map(file.located, warnings)))


def _others(file: StackFile, found: Iterable[Finding]) -> Iterator[Finding]:
    """Without what is wrong with a value that is not what is written."""
    misread = {fault.place.path for fault in file.faults}
    return (each for each in found if not each.place.is_in_a_stack_file or each.place.path not in misread)


def _together(checked: list[_Checked], patches: Path) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """What is wrong and what is doubtful where all stacks are looked at, and belongs to none."""
    plans = {each.name: each.plan for each in checked}
    doubtful = tuple(doubts(plans, patches))
    for warning in doubtful:
        warn(f"no stack: {warning}")
    return (*shared(each.found for each in checked), *of_no_stack(plans, patches)), doubtful


def _lines(checked: list[_Checked], of_none: tuple[Finding, ...]) -> Iterator[str]:
    for each in checked:
        yield f"{each.name}: {_count(len(each.found))}"
        for found in each.found:
            yield f"  {found}"
    if of_none:
        yield f"no stack: {_count(len(of_none))}"
        yield from (f"  {found}" for found in of_none)


def _count(findings: int) -> str:
    if not findings:
        return paint("nothing is wrong", "green")
    return paint("1 finding" if findings == 1 else f"{findings} findings", "red")


def _plain(stack: str | None, finding: Finding) -> dict[str, Any]:
    """A finding for programs. `nodes` is empty where it is no node's own."""
    place = finding.place
    return {
        "stack": stack,
        "check": finding.check or None,
        "nodes": list(place.nodes),
        "file": place.file or None,
        "line": place.line,
        "path": written(place.path) if place.is_in_a_stack_file else None,
        "value": finding.value or None,
        "message": finding.message,
        "cure": finding.cure,
    }
