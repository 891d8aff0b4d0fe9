"""The shape of a platform: its settings, its node, its rules. A module beside this one has all three."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from topology.node import Node, Platform
from topology.rules.rule import Rule
from topology.topology import Topology


@dataclass(frozen=True)
class PlatformKind:
    """What `topology.platforms.PLATFORMS` lists."""

    kind: str
    settings: type[Platform]
    node: type[Node]
    mode: Literal["metal", "cloud"]
    """How Talos validates: metal where it installs itself on a disk, cloud where its image is the disk."""
    rules: tuple[Rule, ...] = ()
    secrets: tuple[str, ...] = ()
    """The keys of the stack's encrypted configuration that the platform needs."""
    claims: Callable[[Topology], Mapping[str, Sequence[str]]] = lambda _: {}
    """What no two stacks can have both, by the path in the stack file, besides names and addresses."""
    one_interface: bool = False
    """Whether its machines have exactly one: the program makes them so."""
    user_data: int | None = None
    """Bytes of base64 that it takes as user data; None where a machine gets its configuration over its own API."""
