"""`talos-stacks draw`: a picture of the topology of a stack, from the same model that everything else comes from."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from cli.errors import CliError
from cli.options import EXIT_CODES, Parsers, command, project, selected, stack_option
from cli.picture import Picture, picture
from cli.stackfile import StackFile
from cli.terminal import say, say_json
from topology import TopologyError, load

DOCUMENT = Path("docs", "topologies.md")
"""Below the checkout: the pictures of all stacks."""
_ABOUT = """Draws zones, machines, roles and the way to the Kubernetes API. Mermaid is what Git hosts render in
Markdown; text is a table; json is for programs."""
_EPILOG = f"""examples:
  talos-stacks draw --stack prod
  talos-stacks draw --stack prod --output text
  talos-stacks draw --write

{EXIT_CODES}"""
_HEAD = """# Topologies

The stacks of this repository, drawn from their stack files by `make draw`.
"""


def add(parsers: Parsers) -> None:
    """Put the command into the table."""
    parser = command(parsers, "draw", run, summary="a picture of a topology", about=_ABOUT, epilog=_EPILOG)
    stack_option(parser)
    parser.add_argument("--output", choices=("mermaid", "text", "json"), default="mermaid", help="default: mermaid")
    parser.add_argument("--write", action="store_true", help=f"write the pictures of all stacks to {DOCUMENT}")


def run(options: argparse.Namespace) -> int:
    """Print the pictures, or write the document."""
    if options.write:
        if options.stack:
            raise CliError("--write draws all stacks; leave --stack out")
        path = project(options) / DOCUMENT
        path.parent.mkdir(exist_ok=True)
        path.write_text(document(selected(options)), encoding="utf-8")
        say(f"wrote {path}")
        return 0
    pictures = [_picture(stack) for stack in selected(options)]
    if options.output == "json":
        say_json([drawn.value() for drawn in pictures])
    else:
        texts = [drawn.text() if options.output == "text" else drawn.mermaid() for drawn in pictures]
        say("\n".join(texts).removesuffix("\n"))
    return 0


def document(stacks: Sequence[StackFile]) -> str:
    """Return the Markdown with the pictures of these stacks."""
    parts = [_HEAD]
    for stack in stacks:
        drawn = _picture(stack)
        parts.append(f"## {stack.name}\n\n```mermaid\n{drawn.mermaid()}```\n\n```text\n{drawn.text()}```\n")
    return "\n".join(parts)


def _picture(stack: StackFile) -> Picture:
    try:
        return picture(load(stack.cluster))
    except TopologyError as error:
        raise CliError(stack.told(error.findings)) from None
