"""The command `talos-stacks`: a table of commands, and what happens when one cannot do its work."""

import argparse
import importlib
import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from cli.errors import CliError
from cli.terminal import paint
from findings import FindingsError

COMMANDS = ("check", "render", "explain", "diff", "access", "draw", "schema")
"""Modules with `add(parsers)`, which puts a parser into the table with `run(options) -> int` as its default."""
_ABOUT = "Talos Linux clusters from one stack file each: what follows from it, what machines run, and who gets in."
_EPILOG = """examples:
  talos-stacks check
  talos-stacks render --stack lab
  talos-stacks explain lab-worker-01 machine.install.disk
  talos-stacks diff --stack lab

exit codes:
  0  all is well
  1  an error, wrong arguments among them
  2  the command found something: differences, findings

NO_COLOR switches colours off. `talos-stacks COMMAND --help` says more of each command."""


class _Parser(argparse.ArgumentParser):
    """Ends with 1 where arguments are wrong: 2 means that a command found something."""

    def error(self, message: str) -> NoReturn:
        self.exit(1, f"{self.prog}: {message}; `{self.prog} --help` shows its usage\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Whatever goes wrong is said on stderr, without a traceback."""
    try:
        options = _parsed(sys.argv[1:] if arguments is None else arguments)
        code: int = options.run(options)
        return code
    except BrokenPipeError:  # nobody reads on, so there is nobody to tell
        raise
    except Exception as error:  # an error that reaches this far still ends in one sentence
        return _failed(error)


def load(arguments: Sequence[str]) -> Sequence[str]:
    """Load the modules of the command that is asked for, of all where it is none; return their names."""
    found = arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS
    for name in found:
        importlib.import_module(f"cli.{name}")
    return found


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options; a command after its options is shown at its place."""
    found = parser(load(arguments))
    at = next((index for index, word in enumerate(arguments) if word in COMMANDS), 0)
    if at and arguments[0].startswith("--") and arguments[0] != "--help":
        moved = shlex.join([found.prog, arguments[at], *arguments[:at], *arguments[at + 1 :]])
        found.error(f"options follow the command: `{moved}`")
    return found.parse_args(arguments)


def parser(commands: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of some commands."""
    result = _Parser(
        prog="talos-stacks",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parsers = result.add_subparsers(metavar="COMMAND", dest="command", required=True)
    for name in commands:
        importlib.import_module(f"cli.{name}").add(parsers)
    return result


def _failed(error: Exception) -> int:
    said = str(error) if isinstance(error, CliError | FindingsError) else _unexpected(error)
    lines = said.splitlines() or [type(error).__name__]
    sys.stderr.write(f"{paint('error:', 'red', sys.stderr)} {lines[0]}\n")
    for line in lines[1:]:
        sys.stderr.write(f"  {line}\n")
    return 1


def _unexpected(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # The error's own text may quote a secret, so only its kind and place are shown.
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"an internal error: {type(error).__name__} in {Path(frame.filename).name} line {frame.lineno}"
