"""The shape of a platform: its settings, its node, its rules. A module beside this one has all three."""

from dataclasses import dataclass

from topology.node import Node, Platform
from topology.rules.rule import Rule


@dataclass(frozen=True)
class PlatformKind:
    """What `topology.platforms.PLATFORMS` lists."""

    kind: str
    settings: type[Platform]
    node: type[Node]
    rules: tuple[Rule, ...] = ()
    secrets: tuple[str, ...] = ()
    """The keys of the stack's encrypted configuration that the platform needs."""
