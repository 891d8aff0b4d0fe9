"""`talos-stacks schema`: the JSON schema of a stack file, for editors."""

import argparse
import json
from pathlib import Path

from cli.options import EXIT_CODES, Parsers, command, project
from cli.terminal import say
from topology.schema import stack_schema

FILE = Path("docs", "stack.schema.json")
_ABOUT = """Prints the JSON schema of Pulumi.NAME.yaml. Editors find it by the first line of a stack file and then
complete and check keys and single values; what must go together is checked by `check` and by preview. What is printed
is JSON already, so there is no --output."""
_EPILOG = f"""examples:
  talos-stacks schema > stack.schema.json
  talos-stacks schema --write

{EXIT_CODES}"""


def add(parsers: Parsers) -> None:
    """Put the command into the table."""
    parser = command(parsers, "schema", run, summary="the JSON schema of a stack file", about=_ABOUT, epilog=_EPILOG)
    parser.add_argument("--write", action="store_true", help=f"write it to {FILE}")


def run(options: argparse.Namespace) -> int:
    """Print the schema, or write it."""
    text = json.dumps(stack_schema(), indent=2)
    if options.write:
        path = project(options) / FILE
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
        say(f"wrote {path}")
    else:
        say(text)
    return 0
