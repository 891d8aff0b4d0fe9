"""What every platform module offers, so that the assembly needs no branch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pulumi

from topology import Node as NodeModel
from topology import Topology


@dataclass(frozen=True)
class PlatformArgs:
    """``schematics``: the Image Factory's id of each schematic by the computed one; images wait for it."""

    topology: Topology
    schematics: Mapping[str, pulumi.Output[str]]


@dataclass(frozen=True)
class NodeArgs:
    """``schematic`` is the computed id of the node's image; ``platform`` the module's own ``Platform``."""

    topology: Topology
    node: NodeModel
    schematic: str
    platform: Any


class PlatformModule(Protocol):
    """One module of ``components/nodes``."""

    SECRETS: tuple[str, ...]
    """Keys of the stack's encrypted config that the platform cannot do without."""

    @property
    def Platform(self) -> type[pulumi.ComponentResource]:  # noqa: N802
        """What the nodes of a cluster share: the provider, the boot images."""

    @property
    def Node(self) -> type[pulumi.ComponentResource]:  # noqa: N802
        """One machine, up to the point where it answers on the Talos API."""

    def environment(self, topology: Topology) -> Mapping[str, str | None]:
        """Return the variables that the provider would read: the value the stack gives it, None where it gives none."""
