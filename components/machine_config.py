"""The machine configuration of one node."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pulumi
import pulumiverse_talos as talos
from pulumiverse_talos import machine

from topology import Node, Topology


@dataclass(frozen=True)
class MachineConfigArgs:
    """``bundle`` is a secret; ``patches`` are the rendered ones, in the order in which they apply."""

    topology: Topology
    node: Node
    bundle: pulumi.Output[machine.MachineSecretsArgs]
    patches: pulumi.Input[Sequence[str]]
    provider: talos.Provider


class MachineConfig(pulumi.ComponentResource):
    """Owns no resource: asks the provider for the base configuration with the node's patches merged."""

    text: pulumi.Output[str]
    """The final configuration, a secret as a whole, as the bundle is."""

    def __init__(self, name: str, args: MachineConfigArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Generate the configuration; unknown in the preview that first makes the secrets."""
        super().__init__("talos-stacks:index:MachineConfig", name, None, opts)
        # Asked with plain secrets only: what is not known yet needs no call, and what is known is not waited for again.
        # No outputs are registered, as there are none (docs/adr/0008).
        self.text = args.bundle.apply(partial(self._asked, args))

    def _asked(self, args: MachineConfigArgs, bundle: machine.MachineSecretsArgs) -> pulumi.Output[str]:
        topology = args.topology
        return machine.get_configuration_output(
            cluster_name=topology.name,
            cluster_endpoint=topology.endpoint.url,
            machine_type=args.node.machine_type,
            machine_secrets=bundle,
            talos_version=str(topology.versions.contract),
            kubernetes_version=str(topology.versions.kubernetes),
            config_patches=args.patches,
            docs=False,
            examples=False,
            opts=pulumi.InvokeOutputOptions(parent=self, provider=args.provider),
        ).machine_configuration
