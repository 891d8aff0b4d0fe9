"""What the provider is asked for one node, in one place for all who ask it."""

from collections.abc import Sequence

from machineconfig.model import Patch
from machineconfig.paths import Path
from machinery import Bundle, GenerateArgs
from topology import Node, Topology

_COMPONENTS = ("apiServer", "controllerManager", "scheduler", "proxy")


def arguments(
    topology: Topology, node: Node, patches: Sequence[Patch], bundle: Bundle, *, lenient: bool = False
) -> GenerateArgs:
    """The arguments of getConfiguration for a node, as the program gives them; it is never `lenient`."""
    return GenerateArgs(
        cluster_name=topology.name,
        cluster_endpoint=topology.endpoint.url,
        machine_type=node.machine_type,
        machine_secrets=bundle,
        talos_version=str(topology.versions.contract),
        kubernetes_version=str(topology.versions.kubernetes),
        patches=tuple(patch.text for patch in patches),
        lenient=lenient,
    )


def given(topology: Topology, node: Node) -> dict[Path, tuple[Path, ...]]:
    """Where the arguments end up in the configuration, with the keys of the stack file behind each, the best first."""
    at = ("nodes", topology.nodes.index(node))
    images = (("machine", "kubelet"), *(("cluster", part) for part in _COMPONENTS))
    return {
        ("cluster", "clusterName"): (("name",),),
        ("cluster", "controlPlane", "endpoint"): (("endpoint",), ("network", "vip"), (*at, "address")),
        ("machine", "type"): ((*at, "role"),),
        **{(*path, "image"): (("versions", "kubernetes"),) for path in images},
    }
