"""What the provider is asked for one node, in one place for all who ask it."""

from collections.abc import Sequence

from machineconfig.model import Patch
from machinery import Bundle, GenerateArgs
from topology import Node, Topology


def arguments(topology: Topology, node: Node, patches: Sequence[Patch], bundle: Bundle) -> GenerateArgs:
    """The arguments of getConfiguration for a node, as the program gives them."""
    return GenerateArgs(
        cluster_name=topology.name,
        cluster_endpoint=topology.endpoint.url,
        machine_type=node.role,
        machine_secrets=bundle,
        talos_version=str(topology.versions.contract),
        kubernetes_version=str(topology.versions.kubernetes),
        patches=tuple(patch.text for patch in patches),
    )
