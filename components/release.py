"""The Talos release and schematic of a machine: a resource of this project's own provider."""

from dataclasses import dataclass

import pulumi

from components.nodes.shape import ProvisionedNode
from machineconfig import NodeFacts
from talosapi import Credentials
from topology import Node, Topology

_PACKAGE = "talos-lifecycle"
"""Never the name of the project: the engine puts the config of that name, secrets too, into the environment."""


class Machines(pulumi.ProviderResource):
    """Owns the identity that the provider calls machines with, a secret, so that the state has it once."""

    def __init__(
        self, name: str, credentials: pulumi.Output[Credentials], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Configure the provider in ``provider/``; the engine starts it, as Pulumi.yaml says."""
        identity = {
            "ca": credentials.apply(lambda known: known.ca.decode()),
            "crt": credentials.apply(lambda known: known.crt.decode()),
            "key": credentials.apply(lambda known: known.key.decode()),
        }
        super().__init__(_PACKAGE, name, {key: pulumi.Output.secret(value) for key, value in identity.items()}, opts)


@dataclass(frozen=True)
class ReleaseArgs:
    """``schematic`` is the id of what the node shall run; ``control_planes`` are all of the cluster."""

    topology: Topology
    node: Node
    schematic: str
    provisioned: ProvisionedNode
    control_planes: tuple[ProvisionedNode, ...]


class Release(pulumi.CustomResource):
    """What Talos a machine runs. A changed version or schematic upgrades it; all else are settings of the way there."""

    def __init__(self, name: str, args: ReleaseArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Take what is wanted from the topology."""
        rollout = args.topology.rollout
        properties = {
            "node": args.node.name,
            "address": args.provisioned.address,
            "machineType": args.node.machine_type,
            "version": str(args.topology.versions.talos),
            "schematic": args.schematic,
            "image": NodeFacts(args.topology, args.node).installer,
            "controlPlanes": [{"node": each.name, "address": each.address} for each in args.control_planes],
            "timeout": rollout.timeout,
            "drainTimeout": rollout.drain.timeout,
            "goOnUndrained": rollout.drain.on_timeout == "continue",
            "staged": rollout.staged,
            "acceptQuorumLoss": rollout.accept_quorum_loss,
        }
        super().__init__(f"{_PACKAGE}:index:Release", name, properties, opts)
