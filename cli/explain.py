"""`talos-stacks explain`: which file and line set a value of a node's configuration, and what it overrode."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cli.errors import CliError
from cli.final import prepare
from cli.options import EXIT_CODES, Parsers, command, output_option, selected, stack_option
from cli.stackfile import StackFile
from cli.terminal import paint, say, say_json
from machineconfig.origins import Origins
from machineconfig.paths import Path, bare, find, leaves, near, value_at, written
from machineconfig.placeholder import all_shown
from machineconfig.redaction import looks_secret
from machineconfig.trace import Step, Steps
from machinery import emit

_ABOUT = """Say which file and line set a value, and which values it overrode, newest first. For a map or a list, say it
for everything in it. A path is written as in the configuration, with list entries by number. A document with a kind
goes in front: UserVolumeConfig/local:provisioning.minSize. A key with dots can be put in brackets. What a patch
deleted is explained too. Secrets of the stack are placeholders such as <secret name>. (hidden)
stands for what is written in a patch and looks like a secret or is at a place for one."""
_EPILOG = f"""examples:
  talos-stacks explain lab-worker-01 machine.install.disk
  talos-stacks explain lab-controlplane-01 'machine.network.interfaces[0].addresses'
  talos-stacks explain lab-worker-01 HostnameConfig:hostname --output json

{EXIT_CODES}"""
_WIDEST = 500
HIDDEN = "(hidden)"


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
    entries = explanations(origins, options.path.rstrip("."))
    if not entries:
        also = (written(title, path) for title, path, _ in origins.removed)
        places = near(origins.documents, options.path, also)
        hint = f"; near it: {', '.join(places)}" if places else ""
        raise CliError(f"{node.name} has nothing at {options.path}, and no patch deletes it{hint}")
    if options.output == "json":
        say_json({"node": node.name, "stack": prepared.stack, "entries": [_plain(entry) for entry in entries]})
        return 0
    for entry in entries:
        for line in _lines(entry):
            say(line)
    return 0


@dataclass(frozen=True)
class Explained:
    """One value, and what happened to it."""

    title: str
    path: Path
    steps: Steps

    @property
    def place(self) -> str:
        """The document and the path, as people write them."""
        return written(self.title, self.path)


def explanations(origins: Origins, text: str) -> list[Explained]:
    """Each value at a place, in the order of the configuration; last, what was deleted there."""
    found = find(origins.documents, text)
    entries: list[Explained] = []
    if found is not None:
        title, path = found
        for below, _ in leaves(value_at(origins.documents[title], path)):
            entries.append(Explained(title, (*path, *below), origins.steps(title, (*path, *below))))
    there = {entry.place for entry in entries}
    gone = (Explained(*each) for each in origins.removed)
    return [*entries, *(each for each in gone if each.place not in there and _is_at(each.place, text))]


def _is_at(place: str, text: str) -> bool:
    """Whether a place is the one that a text means, or inside it, whether its keys are in brackets or not."""
    place, text = bare(place), bare(text)
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


def _lines(entry: Explained) -> Iterator[str]:
    steps, place = entry.steps, paint(entry.place, "bold")
    last = steps[-1]
    if last.deleted:
        yield f"{place}: {paint('deleted', 'red')}"
    else:
        yield f"{place} = {_text(entry, last)}"
    yield f"  {'deleted' if last.deleted else 'set'} by {paint(str(last.origin), 'green')}"
    for later, step in zip(reversed(steps), reversed(steps[:-1]), strict=False):
        yield f"  {_before(entry, step, later)}"


def _before(entry: Explained, step: Step, later: Step) -> str:
    """What a value was before a later step."""
    if step.deleted:
        return f"after it was deleted by {step.origin}"
    return f"{'it was' if later.deleted else 'overrides'} {_text(entry, step)} from {step.origin}"


def _text(entry: Explained, step: Step) -> str:
    value = _value(entry, step)
    text = HIDDEN if value == HIDDEN else emit.scalar(value, "")
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}..."


def _value(entry: Explained, step: Step) -> Any:
    """The value with marks for secrets; hidden where a patch has it in clear."""
    value = _shown(step.value)
    if isinstance(value, int) and entry.path[-1:] == ("permissions",):
        return emit.Verbatim(f"0o{value:o}")  # as it is written in every file
    return HIDDEN if looks_secret(entry.path, value) and value == step.value else value


def _shown(value: Any) -> Any:
    """Plain values, all the way down, with marks for secrets."""
    if isinstance(value, str):
        return all_shown(value)
    if isinstance(value, dict):
        return {all_shown(key): _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list) else value


def _plain(entry: Explained) -> dict[str, Any]:
    last = entry.steps[-1]
    return {
        "path": entry.place,
        "value": None if last.deleted else _value(entry, last),
        "deleted": last.deleted,
        "steps": [
            {
                "file": step.origin.path,
                "line": step.origin.line,
                "origin": str(step.origin),
                "deletes": step.deleted,
                "value": _value(entry, step),
            }
            for step in entry.steps
        ],
    }
