"""`talos-stacks explain`: which file and line set a value of a node's configuration, and what it overrode."""

import argparse
import re
from collections.abc import Iterator
from typing import Any

from cli.errors import CliError
from cli.final import Prepared, prepare
from cli.options import EXIT_CODES, Parsers, command, output_option, selected, stack_option
from cli.stackfile import StackFile
from cli.terminal import paint, say, say_json
from machineconfig.origins import Origins
from machineconfig.paths import Path, find, leaves, near, value_at, written
from machineconfig.trace import Step, Steps
from machinery import emit

_ABOUT = """Say which file and line set a value, and which values it overrode, the newest first. Of a map or a list, say
it of everything in it. A place is written as in the configuration, with list entries by number; a document with a kind
stands in front: UserVolumeConfig/local:provisioning.minSize. A key with dots can stand in brackets. What a patch
deleted is explained too. Secrets are never shown."""
_EPILOG = f"""examples:
  talos-stacks explain lab-worker-01 machine.install.disk
  talos-stacks explain lab-controlplane-01 'machine.network.interfaces[0].addresses'
  talos-stacks explain lab-worker-01 HostnameConfig:hostname --output json

{EXIT_CODES}"""
_WIDEST = 500


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = command(parsers, "explain", run, summary="say where a value comes from", about=_ABOUT, epilog=_EPILOG)
    parser.add_argument("node", metavar="NODE", help="the node's name")
    parser.add_argument("path", metavar="PATH", help="the place, such as machine.install.disk")
    stack_option(parser, "the one with this node")
    output_option(parser)


def run(options: argparse.Namespace) -> int:
    """Explain one place of one node."""
    prepared = prepare(_stack_of(options))
    node = prepared.node(options.node)
    origins = prepared.origins(node)
    entries = explanations(origins, options.path)
    if not entries:
        also = (written(title, path) for title, path, _ in origins.removed)
        places = near(origins.documents, options.path, also)
        hint = f"; near it: {', '.join(places)}" if places else ""
        raise CliError(f"{node.name} has nothing at {options.path}, and no patch deletes it{hint}")
    if options.output == "json":
        say_json({"node": node.name, "stack": prepared.stack, "entries": [_plain(prepared, *e) for e in entries]})
        return 0
    for entry in entries:
        for line in _lines(prepared, *entry):
            say(line)
    return 0


def explanations(origins: Origins, text: str) -> list[tuple[str, Steps]]:
    """Each value at a place with its steps, in the order of the configuration; last, what was deleted there."""
    found = find(origins.documents, text)
    entries: list[tuple[str, Steps]] = []
    if found is not None:
        title, path = found
        for below, _ in leaves(value_at(origins.documents[title], path)):
            place: Path = (*path, *below)
            entries.append((written(title, place), origins.steps(title, place)))
    there = {place for place, _ in entries}
    for title, path, steps in origins.removed:
        place_text = written(title, path)
        if place_text not in there and _is_at(place_text, text):
            entries.append((place_text, steps))
    return entries


def _is_at(place: str, text: str) -> bool:
    """Whether a place is the one that a text means, or inside it, whether keys stand in brackets or not."""
    place, text = (re.sub(r"[\[\].\"']+", ".", each).strip(".") for each in (place, text))
    rest = place.removeprefix(text)
    return place.startswith(text) and (not rest or rest[0] in ".:")


def _stack_of(options: argparse.Namespace) -> StackFile:
    """The stack that --stack names, or the only one with such a node."""
    stacks = selected(options)
    if len(stacks) == 1:
        return stacks[0]
    found = [stack for stack in stacks if options.node in set(_names(stack.cluster))]
    if len(found) == 1:
        return found[0]
    names = ", ".join(stack.name for stack in found or stacks)
    if found:
        raise CliError(f"several stacks have a node {options.node}: {names}; choose one with --stack")
    raise CliError(f"no stack has a node {options.node}; the stacks are {names}")


def _names(cluster: Any) -> Iterator[str]:
    nodes = cluster.get("nodes") if isinstance(cluster, dict) else None
    for node in nodes if isinstance(nodes, list) else ():
        if isinstance(node, dict):
            yield str(node.get("name"))


def _lines(prepared: Prepared, place: str, steps: Steps) -> Iterator[str]:
    last = steps[-1]
    shown = paint("deleted", "red") if last.deleted else _value(prepared, last.value)
    yield f"{paint(place, 'bold')} = {shown}" if not last.deleted else f"{paint(place, 'bold')}: {shown}"
    yield f"  {'deleted' if last.deleted else 'set'} by {paint(str(last.origin), 'green')}"
    for later, step in zip(reversed(steps), reversed(steps[:-1]), strict=False):
        yield f"  {_before(prepared, step, later)}"


def _before(prepared: Prepared, step: Step, later: Step) -> str:
    """What a value was before a later step."""
    if step.deleted:
        return f"after it was deleted by {step.origin}"
    return f"{'it was' if later.deleted else 'overrides'} {_value(prepared, step.value)} from {step.origin}"


def _value(prepared: Prepared, value: Any) -> str:
    text = emit.scalar(prepared.mask.value(value), "")
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}..."


def _plain(prepared: Prepared, place: str, steps: Steps) -> dict[str, Any]:
    last = steps[-1]
    return {
        "path": place,
        "value": None if last.deleted else prepared.mask.value(last.value),
        "deleted": last.deleted,
        "steps": [
            {
                "file": f"patches/{step.origin.file}" if step.origin.file else None,
                "line": step.origin.line,
                "origin": str(step.origin),
                "deletes": step.deleted,
                "value": prepared.mask.value(step.value),
            }
            for step in steps
        ],
    }
