"""The configurations that machines run with, asked of all of them at once."""

import asyncio
import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cli.errors import CliError
from machinery import ConfigError
from machinery.yaml import load
from talosapi import Client, Credentials, TalosError
from talosapi.errors import Code, CredentialsError
from topology import Node

_AT_ONCE = 16


@dataclass(frozen=True)
class Answer:
    """What one machine runs with, or why that is not known."""

    node: Node
    text: str = field(default="", repr=False)
    error: str = ""
    waits: bool = False
    """Whether it is in maintenance mode."""


def ask(nodes: Sequence[Node], credentials: Credentials) -> tuple[Answer, ...]:
    """Ask machines for their configurations, in the order of the nodes; raises CliError for bad credentials."""
    try:
        return asyncio.run(_ask_all(nodes, credentials))
    except CredentialsError as error:
        raise CliError(f"the credentials cannot be used: {error}") from None


async def _ask_all(nodes: Sequence[Node], credentials: Credentials) -> tuple[Answer, ...]:
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(node: Node) -> Answer:
        async with slots, Client(str(node.address), credentials, name=node.name, attempts=2) as client:
            try:
                return Answer(node, await client.machine_configuration())
            except TalosError as error:
                if error.code is Code.UNAUTHENTICATED and await _waits(node):
                    return Answer(node, error="it is in maintenance mode, without a configuration", waits=True)
                said = "it has no configuration yet" if error.code is Code.NOT_FOUND else str(error)
                return Answer(node, error=said.removeprefix(f"{node.name}: "))

    return tuple(await asyncio.gather(*(one(node) for node in nodes)))


async def _waits(node: Node) -> bool:
    """Whether it answers without credentials, as only a machine in maintenance mode does."""
    try:
        async with Client(str(node.address), None, name=node.name, attempts=2) as client:
            await client.version()
    except TalosError:
        return False
    return True


def talosconfig(path: Path) -> Credentials:
    """The identity of the current context of a talosconfig; raises CliError, never with what is in the file."""
    try:
        found = load(path.read_text(encoding="utf-8"))[0]
        context = found["contexts"][found["context"]]
        return Credentials(*(base64.b64decode(context[key], validate=True) for key in ("ca", "crt", "key")))
    except OSError as error:
        raise CliError(f"{path}: {error.strerror}") from None
    except (ConfigError, LookupError, TypeError, ValueError, binascii.Error):
        raise CliError(f"{path} is not a talosconfig with a current context, a ca, a crt and a key") from None
