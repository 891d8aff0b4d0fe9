"""What every platform module offers, so that the assembly needs no branch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pulumi

from components.edits import Words
from topology import Node as NodeModel
from topology import Topology


@dataclass(frozen=True)
class PlatformArgs:
    """``schematics``: the id of each node's schematic; ``registered``: the factory's answer for each id."""

    topology: Topology
    schematics: Mapping[str, str]
    registered: Mapping[str, pulumi.Output[str]]


@dataclass(frozen=True)
class NodeArgs:
    """``platform`` is the ``Platform`` of the same module; ``gates`` belong on the resource that
    reboots the machine, which has the node's name."""

    topology: Topology
    node: NodeModel
    platform: Any
    gates: pulumi.ResourceHookBinding


@dataclass(frozen=True)
class ProvisionedNode:
    """A machine that waits for its configuration, as the later steps take it."""

    name: str
    address: pulumi.Input[str]
    """Where it is reached: the topology's address, or the one that the platform gave it."""
    resources: Sequence[pulumi.Resource]
    """What it is made of: where one of these is replaced, the machine is a new one, without a configuration."""
    component: pulumi.Resource
    """It is there when all of it is."""


class NodeComponent(pulumi.ComponentResource):
    """A machine of any platform, up to the point where it waits for its configuration."""

    provisioned: ProvisionedNode


class PlatformModule(Protocol):
    """One module of ``components/nodes``."""

    @property
    def WORDS(self) -> Words:  # noqa: N802
        """What becomes of a machine whose entry is edited."""

    @property
    def Platform(self) -> Callable[[str, PlatformArgs, pulumi.ResourceOptions], pulumi.ComponentResource]:  # noqa: N802
        """What the nodes of a cluster share: the provider, the boot images."""

    @property
    def Node(self) -> Callable[[str, NodeArgs, pulumi.ResourceOptions], NodeComponent]:  # noqa: N802
        """One machine, up to the point where it waits for its configuration."""

    def environment(self, topology: Topology) -> Mapping[str, str | None]:
        """Return the variables that the provider would read: the value the stack gives it, None where it gives none."""
