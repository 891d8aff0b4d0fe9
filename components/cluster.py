"""The assembly: the only file that knows all the components."""

import asyncio
from dataclasses import dataclass

import pulumi
import pulumiverse_talos as talos

from components.bring_up import BringUp, BringUpArgs
from components.edits import Edits
from components.images import BootImages, BootImagesArgs
from components.machine_config import MachineConfig, MachineConfigArgs
from components.machine_secrets import MachineSecrets, MachineSecretsArgs
from components.nodes import PLATFORMS
from components.nodes.shape import NodeArgs, PlatformArgs, ProvisionedNode
from components.plan import Plan, accept
from components.record import Record
from components.release import Machines
from components.rollout import Rollout
from machineconfig import NodeFacts
from machineconfig.causes import Causes
from topology import Node


@dataclass(frozen=True)
class ClusterArgs:
    """``plan``: a checked topology and the patches rendered from it."""

    plan: Plan


class Cluster(pulumi.ComponentResource):
    """Owns a whole cluster. The number and the names of its resources follow from the topology alone."""

    nodes: list[dict[str, str]]
    """A table of the nodes, in the order of the stack file."""
    kubeconfig: pulumi.Output[str]
    """The cluster admin's, a secret."""
    talosconfig: pulumi.Output[str]
    """os:admin, a secret; its endpoints are the control planes' own addresses."""

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Ask for what is on record; ``bring_up`` does the rest."""
        super().__init__("talos-stacks:index:Cluster", name, None, opts)
        self._plan = args.plan
        self._ids = {name: schematic.id for name, schematic in args.plan.schematics.items()}
        self._module = PLATFORMS[self._plan.topology.platform.kind]()
        self._record = Record()
        self._bring_up = BringUp("bring-up", self._record, pulumi.ResourceOptions(parent=self))

    async def bring_up(self) -> None:
        """Compare with the record; make what all nodes share, add the nodes, bring them up; register the outputs.

        Raises ``pulumi.RunError`` before anything is changed, where the stack file asks a living cluster for what it
        cannot do.
        """
        await self._bring_up.urn.future()
        accept(Edits(self._record, self._plan, self._module.WORDS))
        self._share()
        machines, configurations = {}, {}
        for node in self._plan.topology.nodes:
            machines[node.name] = self._machine(node)
            configurations[node.name] = self._machine_config(node)
            await _pause()
        self._bring_up.run(
            BringUpArgs(
                self._plan.topology,
                self._secrets.client_configuration,
                self._secrets.credentials,
                self._secrets.authority,
                machines=machines,
                configurations={name: configuration.text for name, configuration in configurations.items()},
                schematics=self._ids,
                rollout=self._rollout,
                causes=Causes(self._plan, pulumi.get_stack()),
                provider=self._talos,
                own_provider=self._own,
                everything=[
                    self._images,
                    self._platform,
                    *(machine.component for machine in machines.values()),
                    *configurations.values(),
                ],
            )
        )
        self.nodes = [self._row(node) for node in self._plan.topology.nodes]
        self.kubeconfig = self._bring_up.kubeconfig
        self.talosconfig = self._bring_up.talosconfig
        self.register_outputs({})

    def _share(self) -> None:
        """Make what all nodes share, in the order of the work."""
        plan, topology = self._plan, self._plan.topology
        child = pulumi.ResourceOptions(parent=self)
        self._talos = talos.Provider("talos", image_factory_url=topology.image_factory, opts=child)
        self._secrets = MachineSecrets(
            "machine-secrets",
            MachineSecretsArgs(str(topology.versions.contract), plan.secrets_file, self._talos),
            child,
        )
        self._own = Machines("machines", self._secrets.credentials, child)  # early: its plugin starts meanwhile
        self._rollout = Rollout(topology, self._ids, self._secrets.credentials)
        self._images = BootImages(
            "boot-images",
            BootImagesArgs({schematic.id: schematic for schematic in plan.schematics.values()}, self._talos),
            child,
        )
        self._platform = self._module.Platform(
            topology.platform.kind,
            PlatformArgs(topology, self._ids, self._images.registered),
            child,
        )

    def _machine(self, node: Node) -> ProvisionedNode:
        args = NodeArgs(self._plan.topology, node, self._platform, self._rollout.machine_gates)
        return self._module.Node(node.name, args, pulumi.ResourceOptions(parent=self._platform)).provisioned

    def _machine_config(self, node: Node) -> MachineConfig:
        args = MachineConfigArgs(
            self._plan.topology, node, self._secrets.bundle, self._plan.patch_texts(node), self._talos
        )
        return MachineConfig(node.name, args, pulumi.ResourceOptions(parent=self))

    def _row(self, node: Node) -> dict[str, str]:
        return {
            "name": node.name,
            "role": node.role,
            "address": str(node.address),
            "image": node.image,
            "installer": NodeFacts(self._plan.topology, node).installer,
        }


async def _pause() -> None:
    """Let the engine begin with what is registered, and start the plugins, while the rest is assembled: in previews.

    An update has more to lose than this second: it ends at the first failed output only as long as nothing has begun
    when all is assembled. Otherwise the SDK waits for every call before it looks at an output.
    """
    if pulumi.runtime.is_dry_run():
        await asyncio.sleep(0)
