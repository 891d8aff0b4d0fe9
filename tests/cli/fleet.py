"""Machines that answer from memory, and the state of their stack."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cli.final import prepare
from cli.running import Answer
from cli.stackfile import StackFile, read
from cli.state import State
from machinery import Bundle, generate_configuration
from talosapi import Credentials
from topology import Node


@dataclass
class Fleet:
    """The machines of the lab stack in a checkout."""

    checkout: Path
    bundle: Bundle
    credentials: Credentials
    secrets: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def state(self, stack: StackFile) -> State:
        """The state of the stack, with the secrets as they are now."""
        return State(self.bundle, self.credentials, dict(self.secrets))

    def apply(self) -> None:
        """Give every machine what the checkout says now."""
        stack = read("lab", self.checkout)
        prepared = prepare(stack, state=self.state(stack))
        self.texts.update({node.name: prepared.final(node, generate_configuration) for node in prepared.nodes([])})

    def ask(self, nodes: Sequence[Node], given: Credentials) -> tuple[Answer, ...]:
        """Answer as cli.running does."""
        assert given.crt == self.credentials.crt
        return tuple(
            Answer(node, self.texts[node.name]) if node.name in self.texts else Answer(node, error="it is off")
            for node in nodes
        )
