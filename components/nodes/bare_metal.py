"""Machines that somebody else racked and booted from the image of their schematic."""

from collections.abc import Mapping

import pulumi

from components.edits import Words
from components.nodes.shape import NodeArgs, NodeComponent, PlatformArgs, ProvisionedNode
from topology import Topology

WORDS = Words(
    leaves="its machine keeps running with its configuration until it is reset", readdressed="nothing moves it there"
)


def environment(topology: Topology) -> Mapping[str, str | None]:
    """Bare metal has no provider, so no variable can contradict the stack."""
    return {}


class Platform(pulumi.ComponentResource):
    """Owns nothing: the machines boot an image of their schematic from a stick, by PXE or by hand."""

    def __init__(self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Wait for the schematics, so that their images are there to boot."""
        super().__init__("talos-stacks:bare-metal:Platform", name, None, opts)
        self.register_outputs({"schematics": list(args.registered.values())})


class Node(NodeComponent):
    """Owns nothing: the machine waits in maintenance mode at the address the topology says.

    It registers no outputs, as it has none: docs/adr/0008.
    """

    def __init__(self, name: str, args: NodeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Take the machine at its address."""
        super().__init__("talos-stacks:bare-metal:Node", name, None, opts)
        self.provisioned = ProvisionedNode(name, str(args.node.address), resources=(), component=self)
