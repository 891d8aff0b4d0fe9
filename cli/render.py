"""`talos-stacks render`: what the files of a stack turn into, in a folder, touching nothing else."""

import argparse
import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cli.compare import ours
from cli.errors import CliError
from cli.final import Prepared, prepare
from cli.options import EXIT_CODES, Parsers, command, node_option, output_option, project, selected, stack_option
from cli.provider import BINARY, Generate, plugin
from cli.stackfile import StackFile
from cli.terminal import say, say_json, warn
from cli.writing import MANIFEST, Rendering, write
from machineconfig.model import Patch
from machineconfig.origins import Origins
from machineconfig.paths import written
from machineconfig.placeholder import all_shown
from machineconfig.trace import Steps
from machinery import generate_configuration
from topology import Node

FINAL = "final.yaml"
ORIGINS = "origins.json"
SECRETS = "secrets.json"
"""The places of what depends on a secret, in a list, where it is not marked in the configuration."""
_ABOUT = """Write each node's rendered patches and its final configuration into a folder. No engine, no credentials and
no network are needed.

  <node>/patches/NN-<level>-<file>   the patches in the order in which they apply
  <node>/final.yaml                  what the machine gets
  <node>/origins.json                with --origins: which file and line set each value

Either all of it is written or nothing, and only files that have changed. With --node the renderings of other nodes
stay as they are.

The final configuration is made as Talos's library makes it. With --plugin it comes from the Talos provider plugin that
preview uses: the one on PATH, else the engine's; rendering.json says which of the two made it.

Secrets are placeholders, such as <certs.os.key> and <secret registryPassword>. With --show-secrets they are taken from
the stack's state and its encrypted configuration; then only you can read the files, and <node>/secrets.json says where
the secrets are in them."""
_EPILOG = f"""examples:
  talos-stacks render                          all stacks, into out/<stack>
  talos-stacks render --stack lab --out /tmp/a
  talos-stacks render --stack lab --node lab-worker-01 --output json

{EXIT_CODES}"""


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = command(
        parsers, "render", run, summary="write patches and final configurations", about=_ABOUT, epilog=_EPILOG
    )
    stack_option(parser)
    node_option(parser)
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where to (default: out/<stack>); with all stacks, DIR/<stack>"
    )
    parser.add_argument(
        "--show-secrets", action="store_true", help="real secrets instead of placeholders; the files get mode 0600"
    )
    parser.add_argument("--plugin", action="store_true", help="final configurations from the Talos provider plugin")
    parser.add_argument(
        "--origins", action="store_true", help="write origins.json; `diff` of two folders then names the files"
    )
    output_option(parser)


def run(options: argparse.Namespace) -> int:
    """Render the selected stacks, all of them or none."""
    stacks = selected(options)
    if options.node and len(stacks) > 1:
        raise CliError("--node needs --stack: the names of nodes are a stack's own")
    prepared = [_prepared(stack, options) for stack in stacks]
    renderings: list[Rendering] = []
    made: list[dict[str, Any]] = []
    with plugin() if options.plugin else contextlib.nullcontext(generate_configuration) as generate:
        for each in prepared:
            for warning in each.plan.warnings:
                warn(f"{each.stack}: {warning}")
            nodes = each.nodes(options.node)
            folder = _target(options, each.stack)
            files = rendering(each, nodes, generate, options)
            renderings.append(Rendering(folder, files, is_part=bool(options.node)))
            made.append({"stack": each.stack, "folder": str(folder), "nodes": [node.name for node in nodes]})
    write(renderings, secret=options.show_secrets)
    if options.output == "json":
        say_json(made)
        return 0
    for each_made, written_to in zip(made, renderings, strict=True):
        count = len(each_made["nodes"])
        say(f"{each_made['stack']}: {count} {'node' if count == 1 else 'nodes'} in {_shown(written_to.folder)}")
    return 0


def _prepared(stack: StackFile, options: argparse.Namespace) -> Prepared:
    if not options.show_secrets:
        return prepare(stack)
    from cli import state  # loads the client of machines

    return prepare(stack, state=state.read(stack))


def rendering(
    prepared: Prepared, nodes: tuple[Node, ...], generate: Generate, options: argparse.Namespace
) -> dict[str, str]:
    """Every file of a rendering by its path, the same bytes for the same input."""
    hide = (lambda text: text) if options.show_secrets else all_shown
    manifest = {
        "stack": prepared.stack,
        "secrets": "shown" if options.show_secrets else "redacted",
        "madeBy": BINARY if options.plugin else "talos-stacks",
        "origins": options.origins,
    }
    files = {MANIFEST: _json(manifest)}
    for node in nodes:
        for name, patch in patch_files(prepared.patches(node)):
            files[f"{node.name}/patches/{name}"] = hide(patch.text)
        final = prepared.final(node, generate)
        files[f"{node.name}/{FINAL}"] = hide(final)
        if options.show_secrets:
            places = sorted(written(*place) for place in ours(prepared, node, final, generate).secret)
            files[f"{node.name}/{SECRETS}"] = _json(places)
        if options.origins:
            files[f"{node.name}/{ORIGINS}"] = _json(origins_table(prepared.origins(node)))
    return files


def patch_files(patches: tuple[Patch, ...]) -> Iterator[tuple[str, Patch]]:
    """Patches with the names of their files, numbered in the order in which they apply."""
    for number, patch in enumerate(patches, 1):
        yield f"{number:02}-{patch.source.replace('/', '-').removesuffix('.j2')}", patch


def origins_table(origins: Origins) -> dict[str, Mapping[str, list[str]]]:
    """For each place the files and lines behind its value, the one that counts first; no value is in it."""
    return {
        "set": {written(title, path): _newest_first(steps) for title, path, _, steps in origins.all()},
        "removed": {written(title, path): _newest_first(steps) for title, path, steps in origins.removed},
    }


def _target(options: argparse.Namespace, stack: str) -> Path:
    if options.out is None:
        return project(options) / "out" / stack
    out = Path(options.out.absolute())
    return out if options.stack else out / stack


def _shown(folder: Path) -> str:
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def _newest_first(steps: Steps) -> list[str]:
    return [f"{step.origin}{' (deletes it)' if step.deleted else ''}" for step in reversed(steps)]


def _json(value: object) -> str:
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n"
