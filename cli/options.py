"""Options that several commands share, and how a command is added to the parser."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import stackfile
from cli import projectfile
from cli.errors import CliError
from cli.stackfile import StackFile, read

EXIT_CODES = "exit codes:\n  0  all is well\n  1  an error, which stderr explains"
Parsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def command(
    parsers: Parsers, name: str, run: Callable[[argparse.Namespace], int], *, summary: str, about: str, epilog: str
) -> argparse.ArgumentParser:
    """Add a command with the options that every command has; `about` and `epilog` keep their line breaks."""
    parser = parsers.add_parser(
        name,
        help=summary,
        description=about,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "--project",
        type=Path,
        metavar="DIR",
        help="the checkout with the stack files (default: the one you are in, else the one it is installed from)",
    )
    return parser


def stack_option(parser: argparse.ArgumentParser, default: str = "all stacks") -> None:
    """Add --stack; `default` says in the help what is taken without it."""
    parser.add_argument(
        "--stack", metavar="NAME", action=_Once, help=f"the stack of Pulumi.NAME.yaml (default: {default})"
    )


class _Once(argparse.Action):
    """Takes a name that is not empty, and only one: the last of two would be taken in silence."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option} names one stack, or leave it out for the default")
        if not values:
            parser.error(f"{option} is empty: name a stack, or leave it out for the default")
        setattr(namespace, self.dest, values)


def node_option(parser: argparse.ArgumentParser) -> None:
    """Add --node, which can be given more than once."""
    parser.add_argument("--node", metavar="NAME", action="append", default=[], help="only this node; repeatable")


def output_option(parser: argparse.ArgumentParser) -> None:
    """Add --output."""
    parser.add_argument("--output", choices=("text", "json"), default="text", help="default: text")


def project(options: argparse.Namespace) -> Path:
    """The checkout: what --project names, else the nearest folder upwards, else the one this program lies in.

    Raises CliError where it is none, or its Pulumi.yaml is broken.
    """
    if options.project is not None and not _is_project(options.project):
        raise CliError(f"{options.project} is not a checkout of talos-stacks: it needs Pulumi.yaml and patches/")
    found = options.project or _nearest()
    projectfile.check(found)
    return Path(found.resolve())


def _nearest() -> Path:
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise CliError("the folder that you are in is gone: change to another one") from None
    checkout = Path(__file__).resolve().parents[1]
    return next((folder for folder in (here, *here.parents) if _is_project(folder)), checkout)


def selected(options: argparse.Namespace) -> tuple[StackFile, ...]:
    """The stack that --stack names, or all of them."""
    folder = project(options)
    return tuple(read(name, folder) for name in names(options))


def names(options: argparse.Namespace) -> tuple[str, ...]:
    """The name that --stack gives, or those of all stacks."""
    if options.stack:
        return (options.stack,)
    folder = project(options)
    found = stackfile.names(folder)
    if not found:
        raise CliError(f"there is no stack file in {folder}: write Pulumi.NAME.yaml, from one of the examples")
    return found


def one(options: argparse.Namespace) -> StackFile:
    """The stack that --stack names, else PULUMI_STACK, else `lab`."""
    return read(options.stack or os.environ.get("PULUMI_STACK") or "lab", project(options))


def _is_project(folder: Path) -> bool:
    return (folder / "Pulumi.yaml").is_file() and (folder / "patches").is_dir()
