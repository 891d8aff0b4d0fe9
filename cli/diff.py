"""`talos-stacks diff`: what each node runs against what it would get, or one rendering or revision against another."""

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import stackfile
from cli import revisions, running, state
from cli.compare import against, compares_no_secret, difference, ours
from cli.difference import Cause, NodeDifference, Table, cause_of, one_sided
from cli.errors import CliError
from cli.final import Prepared, prepare
from cli.folders import Folder, RenderedNode
from cli.folders import read as read_folders
from cli.options import Parsers, command, node_option, one, output_option, project, stack_option
from cli.provider import Generate, provider
from cli.render import origins_table
from cli.running import Answer
from cli.stackfile import StackFile, read
from cli.state import State
from cli.terminal import paint, say, say_json, warn
from findings import FindingsError
from topology import Node

_ABOUT = """Compare what each machine runs with what it would get now, by document, then by path: what would be lost,
changed and new, with the file each change comes from. A line with ! says what a change will not do, because a running
machine or cluster does not read the field again.

Everything is compared; a value is shown if it is known not to come from a secret. (secret) stands for one that depends
on a secret of the stack, or looks like one. (not shown) stands for text that a machine runs with and that is in no
file: it may come from a secret that is gone. Numbers, addresses, images and devices are still shown.

Against machines, their credentials and secrets come from the stack's state (`pulumi stack export`), in memory. With
--talosconfig the state is not needed; secrets are then not compared.

Offline, two folders that `render` wrote are compared, or two git revisions (the second is the working tree, where it is
not named). Neither needs machines, a state or credentials. Of two folders the files that changes come from are named
where both were rendered with --origins."""
_EPILOG = """examples:
  talos-stacks diff --stack lab                              every machine
  talos-stacks diff --stack lab --node lab-worker-01 --output json
  talos-stacks diff --from out/before --to out/lab           two renderings
  talos-stacks diff --from-rev main                          main against the working tree, all stacks
  talos-stacks diff --stack lab --from-rev v1 --to-rev v2

exit codes:
  0  no difference
  1  an error: a machine that does not answer among them
  2  some differences"""


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = command(
        parsers, "diff", run, summary="compare what nodes run with what they would get", about=_ABOUT, epilog=_EPILOG
    )
    stack_option(parser, "all stacks; against machines PULUMI_STACK or lab")
    node_option(parser)
    parser.add_argument("--talosconfig", type=Path, metavar="FILE", help="credentials, in place of the state's")
    parser.add_argument("--from", type=Path, metavar="DIR", dest="old", help="a folder that render wrote")
    parser.add_argument("--to", type=Path, metavar="DIR", dest="new", help="another one")
    parser.add_argument("--from-rev", metavar="REV", help="a git revision")
    parser.add_argument("--to-rev", metavar="REV", help="another one (default: the working tree)")
    output_option(parser)


def run(options: argparse.Namespace) -> int:
    """Compare; 2 where anything is different."""
    if options.old or options.new:
        _alone(options, "--from and --to", options.from_rev, options.to_rev, options.talosconfig)
        if not (options.old and options.new):
            raise CliError("--from DIR and --to DIR belong together")
        return _report(options, *_of_folders(options))
    if options.from_rev or options.to_rev:
        _alone(options, "--from-rev and --to-rev", options.talosconfig)
        if not options.from_rev:
            raise CliError("--to-rev needs --from-rev")
        return _report(options, *_of_revisions(options))
    return _report(options, *_of_machines(options))


Found = tuple[list[NodeDifference], list[str]]
"""What was compared, and what could not be."""


def _of_folders(options: argparse.Namespace) -> Found:
    old, new = read_folders(options.old), read_folders(options.new)
    if options.stack:
        old, new = ({name: side[name] for name in side if name == options.stack} for side in (old, new))
        if not old and not new:
            raise CliError(f"neither folder holds a rendering of the stack {options.stack}")
    found: list[NodeDifference] = []
    for stack in sorted(old.keys() | new.keys()):
        left, right = old.get(stack, Folder.empty()), new.get(stack, Folder.empty())
        if left.nodes and right.nodes and left.secrets != right.secrets:
            raise CliError(f"{stack}: one rendering shows secrets and the other does not; render both alike")
        found += one_sided(stack, left.nodes, right.nodes)
        for name in sorted(left.nodes.keys() & right.nodes.keys()):
            before, after = left.nodes[name], right.nodes[name]
            found.append(difference(stack, name, before.made, after.made, _cause_of_rendered(before, after)))
    return _wanted(options, found), []


def _cause_of_rendered(before: RenderedNode, after: RenderedNode) -> Cause:
    """Nothing is said of causes where one side was rendered without origins."""
    old, new = before.origins, after.origins
    return (lambda change: "") if old is None or new is None else cause_of(lambda: new, lambda: old)


def _of_revisions(options: argparse.Namespace) -> Found:
    here = project(options)
    with revisions.tree(here, options.from_rev) as old, revisions.tree(here, options.to_rev) as new:
        names = [options.stack] if options.stack else sorted({*stackfile.names(old), *stackfile.names(new)})
        pairs = [
            (_side(name, old, options.from_rev), _side(name, new, options.to_rev or "working tree")) for name in names
        ]
        if options.stack and pairs == [(None, None)]:
            raise CliError(f"neither side has a stack {options.stack}")
        with provider() as generate:
            return _wanted(options, [each for pair in pairs for each in _sides(*pair, generate)]), []


def _side(name: str, folder: Path, revision: str) -> Prepared | None:
    if name not in stackfile.names(folder):
        return None
    try:
        return prepare(read(name, folder))
    except (CliError, FindingsError) as error:
        raise CliError(f"{revision}: {error}") from None


def _sides(old: Prepared | None, new: Prepared | None, generate: Generate) -> Iterable[NodeDifference]:
    left, right = ({node.name: node for node in side.nodes([])} if side else {} for side in (old, new))
    some = old or new
    if some:
        yield from one_sided(some.stack, left, right)
    if old and new:
        for name in (name for name in right if name in left):
            before = ours(old, left[name], old.final(left[name], generate), generate)
            after = ours(new, right[name], new.final(right[name], generate), generate)
            cause = cause_of(_table_of(new, right[name]), _table_of(old, left[name]))
            yield difference(new.stack, name, before, after, cause)


def _of_machines(options: argparse.Namespace) -> Found:
    stack = one(options)
    known = None if options.talosconfig else state.read(stack)
    credentials = running.talosconfig(options.talosconfig) if known is None else known.credentials
    prepared = prepare(stack, state=known)
    nodes = prepared.nodes(options.node)
    if known is None:
        warn("secrets are not compared: they are in the stack's state, which --talosconfig leaves alone")
    answers = running.ask(nodes, credentials)
    found: list[NodeDifference] = []
    with provider() as generate:
        for answer in answers:
            if not answer.error:
                found.append(_against(prepared, answer.node, answer.text, generate, secrets=known is not None))
    return found, [_error(answer, stack, known) for answer in answers if answer.error]


def _error(answer: Answer, stack: StackFile, known: State | None) -> str:
    name, error = answer.node.name, answer.error
    if answer.waits and known:
        urn = known.applied.get(name)
        gives = f"pulumi up --stack {stack.name} --replace '{urn}'" if urn else f"make up STACK={stack.name}"
        error += f": `{gives}` gives it one (docs/operations.md, A machine that was reset)"
    return f"{name}: {error}"


def _against(prepared: Prepared, node: Node, text: str, generate: Generate, *, secrets: bool) -> NodeDifference:
    before, after = against(prepared, node, text, generate)
    found = difference(prepared.stack, node.name, before, after, cause_of(_table_of(prepared, node), None))
    if secrets:
        return found
    return replace(found, changes=tuple(each for each in found.changes if compares_no_secret(each, after)))


def _table_of(prepared: Prepared, node: Node) -> Callable[[], Table]:
    return lambda: origins_table(prepared.origins(node))


def _alone(options: argparse.Namespace, what: str, *others: Any) -> None:
    if any(others):
        raise CliError(f"{what} cannot be combined with others: choose folders, revisions or machines")


def _wanted(options: argparse.Namespace, found: list[NodeDifference]) -> list[NodeDifference]:
    missing = set(options.node) - {each.node for each in found}
    if missing:
        raise CliError(f"there is no node {', '.join(sorted(missing))} on either side")
    return [each for each in found if not options.node or each.node in options.node]


def _report(options: argparse.Namespace, found: list[NodeDifference], errors: list[str]) -> int:
    differing = [each for each in found if each.differs]
    if options.output == "json":
        say_json({"nodes": [each.plain() for each in found], "errors": errors})
    else:
        several = len({each.stack for each in found}) > 1
        for each in differing:
            for line in each.lines(name_stack=several):
                say(line)
        if found or not errors:
            same = len(found) - len(differing)
            say(f"{len(differing)} of {len(found)} nodes differ" if differing else f"no difference ({same} nodes)")
    for error in errors:
        sys.stderr.write(f"{paint('error:', 'red', sys.stderr)} {error}\n")
    if errors:
        return 1
    return 2 if differing else 0
