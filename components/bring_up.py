"""From machines to a cluster: apply, bootstrap once, healthy, kubeconfig."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumiverse_talos as talos
from pulumi.resource import DependencyResource
from pulumiverse_talos import client, cluster, machine

from components.bootstrap_relay import BootstrapRelay
from components.living import telling
from components.nodes.shape import ProvisionedNode
from components.record import Record
from components.release import Machines, Release, ReleaseArgs
from components.rollout import Rollout
from machineconfig.causes import Causes
from talosapi import Credentials
from talosapi.authority import Authority
from topology import Node, Topology


@dataclass(frozen=True)
class BringUpArgs:
    """``machines`` and ``configurations`` by node name, ``schematics`` the ids likewise; the three after ``topology``
    are the outputs of ``MachineSecrets``.

    ``everything`` has every other component of the cluster.
    """

    topology: Topology
    client_configuration: machine.ClientConfigurationArgsDict
    credentials: pulumi.Output[Credentials]
    authority: pulumi.Output[Authority]
    machines: Mapping[str, ProvisionedNode]
    configurations: Mapping[str, pulumi.Output[str]]
    schematics: Mapping[str, str]
    rollout: Rollout
    causes: Causes
    provider: talos.Provider
    own_provider: Machines
    everything: Sequence[pulumi.Resource]


class BringUp(pulumi.ComponentResource):
    """Owns the applied configurations, the bootstrap of etcd and the admin's kubeconfig.

    Every machine gets its first configuration as soon as it is there. Later changes pass the ``Rollout``. Bootstrap
    happens once, on one control plane; the recorded node is never changed by later edits of the topology.
    """

    kubeconfig: pulumi.Output[str]
    talosconfig: pulumi.Output[str]

    def __init__(self, name: str, record: Record, opts: pulumi.ResourceOptions | None = None) -> None:
        """Read what is on record: it is known when the URN is. `run` registers the rest."""
        migrations = pulumi.ResourceOptions(state_migrations=[record.read])
        super().__init__("talos-stacks:index:BringUp", name, None, pulumi.ResourceOptions.merge(opts, migrations))

    def run(self, args: BringUpArgs) -> None:
        """Register a release and an apply for each node, then the bootstrap, then the kubeconfig."""
        self._args = args
        self._rollout = args.rollout
        self._patience = f"{args.topology.rollout.timeout}s"
        self._gates = args.rollout.configuration_gates(telling(args.causes))
        self._relay = BootstrapRelay(args.topology, args.credentials, args.authority)
        applied = {node.name: self._apply(node) for node in args.topology.controlplanes}
        self._rollout.control_planes_are(applied.values())
        applied |= {node.name: self._apply(node) for node in args.topology.workers}
        bootstrap = self._bootstrap(applied)
        self.kubeconfig = self._kubeconfig([bootstrap, *applied.values()])
        self.talosconfig = self._talosconfig()
        # What no configuration says, for the comparison of the next run: components/record.py.
        self.register_outputs({"contract": str(args.topology.versions.contract), "bootstrap": bootstrap.id})

    def _release(self, node: Node) -> Release:
        """Comes before the apply: a machine takes the configuration of a newer Talos only when it runs that."""
        machines, topology = self._args.machines, self._args.topology
        provisioned = machines[node.name]
        args = ReleaseArgs(
            topology,
            node,
            self._args.schematics[node.name],
            provisioned,
            tuple(machines[plane.name] for plane in topology.controlplanes),
        )
        options = pulumi.ResourceOptions(
            parent=self,
            provider=self._args.own_provider,
            replace_with=list(provisioned.resources),
            depends_on=self._rollout.registration(node, provisioned.component),
            hooks=self._rollout.release_gates,
        )
        return Release(node.name, args, options)

    def _apply(self, node: Node) -> machine.ConfigurationApply:
        provisioned = self._args.machines[node.name]
        release = [self._release(node)] if self._args.topology.installs(node) else []
        return machine.ConfigurationApply(
            node.name,
            node=provisioned.address,
            client_configuration=self._args.client_configuration,
            machine_configuration_input=self._args.configurations[node.name],
            apply_mode=self._args.topology.rollout.apply_mode,
            # The plugin fails where one of the three is left out.
            timeouts=machine.TimeoutArgs(create=self._patience, update=self._patience, delete=self._patience),
            opts=self._options(
                # A changed timeout alone would apply every configuration again.
                ignore_changes=["timeouts"],
                replace_with=[*provisioned.resources, *release],
                depends_on=self._rollout.registration(node, provisioned.component, *release),
                hooks=self._gates,
            ),
        )

    def _bootstrap(self, applied: Mapping[str, pulumi.Resource]) -> machine.Bootstrap:
        node, patience = self._args.topology.bootstrap, self._args.topology.rollout.timeout
        return machine.Bootstrap(
            "bootstrap",
            node=self._args.machines[node.name].address,
            endpoint=self._relay.endpoint(),
            client_configuration=self._args.client_configuration,
            # The relay's own patience ends first, with a message that says what was waited for.
            timeouts=machine.BootstrapTimeoutsArgs(create=f"{2 * patience + 60}s"),
            opts=self._options(
                depends_on=[applied[node.name]],
                # What is bootstrapped stays so, whichever control plane comes first in a later topology.
                ignore_changes=["node", "endpoint", "clientConfiguration", "timeouts"],
            ),
        )

    def _kubeconfig(self, after: list[pulumi.Resource]) -> pulumi.Output[str]:
        everything = self._args.everything
        kubeconfig = cluster.Kubeconfig(
            "kubeconfig",
            node=self._args.machines[self._args.topology.bootstrap.name].address,
            client_configuration=self._args.client_configuration,
            timeouts=cluster.KubeconfigTimeoutsArgs(create=self._patience, update=self._patience),
            opts=self._options(
                # Nothing that a protected resource depends on is destroyed (docs/adr/0022). A component in the list
                # stands for what it owns, so each is in it by its URN as well.
                depends_on=[*after, *everything, *(each.urn.apply(DependencyResource) for each in everything)],
                protect=True,
                hooks=self._rollout.cluster_gate(),
                ignore_changes=["timeouts"],
            ),
        )
        return pulumi.Output.secret(kubeconfig.kubeconfig_raw)

    def _talosconfig(self) -> pulumi.Output[str]:
        topology = self._args.topology
        result = client.get_configuration_output(
            cluster_name=topology.name,
            client_configuration=pulumi.Output.all(**self._args.client_configuration).apply(_talosctl_identity),
            endpoints=self._addresses(topology.controlplanes),
            nodes=self._addresses((*topology.controlplanes, *topology.workers)),
            opts=pulumi.InvokeOutputOptions(parent=self, provider=self._args.provider),
        )
        return pulumi.Output.secret(result.talos_config)

    def _addresses(self, nodes: Iterable[Node]) -> pulumi.Output[list[str]]:
        return pulumi.Output.all(*(self._args.machines[node.name].address for node in nodes))

    def _options(self, **options: Any) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, provider=self._args.provider, **options)


def _talosctl_identity(client_configuration: dict[str, str]) -> client.GetConfigurationClientConfigurationArgs:
    return client.GetConfigurationClientConfigurationArgs(**client_configuration)
