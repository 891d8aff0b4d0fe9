"""When a machine may change: the health gates between the steps of an update.

The gates are resource hooks, which run in the program's own process and never at preview. There is one before each
change as well as after it: a change whose gate failed afterwards is recorded as done, so it is the next run's gate that
finds the machine still down, before another one is touched.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial

import pulumi

from components.installers import Installers
from components.turns import LOOK, Turns
from talosapi import ApplyMode, Code, Credentials, TalosError, etcd
from talosapi.cluster import wait_cluster
from talosapi.conditions import ANSWERS, Unmet, in_maintenance, unless_in_maintenance
from talosapi.quorum import Step
from talosapi.waiting import Patience, label, saying, until_met, wait
from topology import Node, Topology

_REBOOTING = {"auto": ApplyMode.AUTO, "reboot": ApplyMode.REBOOT}
"""The apply modes in which a machine may reboot at once."""


class Rollout:
    """Lets control planes change one at a time and workers in batches, each only while the others are healthy.

    A machine that gets its first configuration before the cluster lives waits for nobody. Once a control plane runs
    etcd the cluster lives: then every change and every new machine takes its turn, control planes before workers.
    """

    def __init__(
        self, topology: Topology, schematics: Mapping[str, str], credentials: pulumi.Output[Credentials]
    ) -> None:
        """Plan nothing yet; ``schematics`` are the ids by node, ``credentials`` is the os:admin identity."""
        self._topology = topology
        self._secret = credentials
        self._patience = Patience(timeout=topology.rollout.timeout, report=pulumi.log.info)
        self._turns = Turns(topology, self._credentials, self._patience)
        self._installers = Installers(topology, schematics, self._credentials, self._patience)
        self._applied: list[pulumi.Resource] = []
        self._living: asyncio.Task[bool | None] | None = None
        self._with_the_provider: dict[str, asyncio.Task[None]] = {}

    def control_planes_are(self, applied: Iterable[pulumi.Resource]) -> None:
        """Name the resources that workers of a living cluster wait for."""
        self._applied = list(applied)

    def registration(self, node: Node, *earlier: pulumi.Resource) -> pulumi.Input[Sequence[pulumi.Resource]]:
        """Return what a change of a node depends on. A worker of a living cluster also waits for all control planes.

        It waits here and not in a hook: a waiting hook holds one of the engine's workers, which the control planes
        need.
        """

        if node.is_controlplane or pulumi.runtime.is_dry_run():
            return list(earlier)

        async def dependencies() -> Sequence[pulumi.Resource]:
            if await self.living():
                await asyncio.gather(*(resource.urn.future() for resource in self._applied))
            return list(earlier)

        return pulumi.Output.from_input(dependencies())

    @cached_property
    def machine_gates(self) -> pulumi.ResourceHookBinding:
        """The gates around a change of a machine itself, such as its memory: the platform reboots it.

        They know the node by the name of the resource, so that all machines share them: every hook costs the engine
        and the program a server.
        """
        return pulumi.ResourceHookBinding(
            before_update=[pulumi.ResourceHook("a machine may change", self._machine_changes)],
            after_update=[pulumi.ResourceHook("a machine is back", self._changed)],
            on_error=[pulumi.ErrorHook("a machine failed", self._failed)],
        )

    def configuration_gates(self, told: pulumi.ResourceHook) -> pulumi.ResourceHookBinding:
        """Return the gates around each change of a configuration, after the hook ``told``, and around a join."""
        return pulumi.ResourceHookBinding(
            before_create=[pulumi.ResourceHook("a node may join", self._joining)],
            before_update=[told, pulumi.ResourceHook("a node may change", self._changing_configuration)],
            after_create=[pulumi.ResourceHook("a node has joined", self._changed)],
            after_update=[pulumi.ResourceHook("a node is back", self._changed)],
            on_error=[pulumi.ErrorHook("a node failed", self._failed)],
        )

    @cached_property
    def release_gates(self) -> pulumi.ResourceHookBinding:
        """The gates around an upgrade of Talos, which the first run on a living cluster may be too; shared likewise."""
        upgrading = pulumi.ResourceHook("a machine may be upgraded", self._upgrading)
        upgraded = pulumi.ResourceHook("a machine is upgraded", self._changed)
        return pulumi.ResourceHookBinding(
            before_create=[upgrading],
            before_update=[upgrading],
            after_create=[upgraded],
            after_update=[upgraded],
            on_error=[pulumi.ErrorHook("an upgrade failed", self._failed)],
        )

    async def _upgrading(self, args: pulumi.ResourceHookArgs) -> None:
        node = self._topology.node(args.name)
        if await self.living() is False or await self._waits_for_a_configuration(node):
            return
        await self._installers.pulled()
        await self._turns.begin(node, _no_reboot_of_ours)

    async def _waits_for_a_configuration(self, node: Node) -> bool:
        await self._answers(node)
        async with LOOK.fleet(await self._credentials()) as fleet:
            return await in_maintenance(fleet, node)

    async def _machine_changes(self, args: pulumi.ResourceHookArgs) -> None:
        if await self.living() is not False:
            await self._turns.begin(self._topology.node(args.name), self._may_go_down)
        self._leave_to_the_provider(self._topology.node(args.name))

    async def _joining(self, args: pulumi.ResourceHookArgs) -> None:
        node = self._topology.node(args.name)
        if await self.living():
            await self._turns.begin(node, partial(self._boot_before_reboot, args), joins=True)
        else:
            await self._answers(node)
        self._leave_to_the_provider(node)

    async def _changing_configuration(self, args: pulumi.ResourceHookArgs) -> None:
        if await self.living() is not False:
            await self._turns.begin(self._topology.node(args.name), partial(self._boot_before_reboot, args))
        self._leave_to_the_provider(self._topology.node(args.name))

    def _leave_to_the_provider(self, node: Node) -> None:
        """Say every now and then that it is the provider that is waited for: it says nothing itself."""

        async def say() -> None:
            line = f"{label(node)}: still waiting for the provider to change it"
            async with saying(pulumi.log.info, lambda waited: f"{line} after {waited:.0f} s"):
                await asyncio.Event().wait()

        self._with_the_provider[node.name] = asyncio.create_task(say())

    def _provider_is_done(self, name: str) -> None:
        if task := self._with_the_provider.pop(name, None):
            task.cancel()

    async def _changed(self, args: pulumi.ResourceHookArgs) -> None:
        self._provider_is_done(args.name)
        await self._turns.finish(self._topology.node(args.name))

    async def _failed(self, args: pulumi.ErrorHookArgs) -> bool:
        self._provider_is_done(args.name)
        self._turns.end(self._topology.node(args.name), failed=True)
        return False

    def cluster_gate(self) -> pulumi.ResourceHookBinding:
        """Return the gate before the kubeconfig of a new cluster: every machine is up, every control plane votes."""

        async def healthy(_: pulumi.ResourceHookArgs) -> None:
            credentials = await self._credentials()
            topology = self._topology
            await wait_cluster(topology.controlplanes, topology.workers, credentials, patience=self._patience)

        return pulumi.ResourceHookBinding(before_create=[pulumi.ResourceHook("the cluster is healthy", healthy)])

    async def living(self) -> bool | None:
        """Look once a run whether etcd exists: None when not all control planes say and none says yes.

        A first configuration is held up by yes only: machines of a new cluster are still booting. A change passes
        freely on no only: a cluster that cannot be reached may live.
        """
        if self._living is None:
            self._living = asyncio.create_task(self._look())
        return await asyncio.shield(self._living)

    async def _look(self) -> bool | None:
        planes, credentials = self._topology.controlplanes, await self._credentials()
        return (await etcd.existence(planes, credentials, patience=LOOK)).yes

    async def _answers(self, node: Node) -> None:
        """Wait for the machine itself: the provider would wait without a word."""
        wanted = [(node, [unless_in_maintenance(ANSWERS)])]
        await wait(wanted, await self._credentials(), patience=self._patience)

    async def _may_go_down(self, node: Node) -> None:
        """Wait until the quorum survives the step; a worker has none. Raises NotReady."""
        if not node.is_controlplane:
            return
        decision = await etcd.wait_until_it_may(
            Step.GOES_DOWN,
            node,
            self._topology.controlplanes,
            await self._credentials(),
            patience=self._patience,
            accept_loss=self._topology.rollout.accept_quorum_loss,
        )
        if decision.lacking:
            pulumi.log.warn(f"{node.name} goes down with fewer control planes to spare: {decision.words}")

    async def _boot_before_reboot(self, args: pulumi.ResourceHookArgs, node: Node) -> str | None:
        """Return the boot id of a machine that the change will reboot, None where it will not or nobody knows.

        Where it may reboot, the quorum must survive that.
        """
        await self._answers(node)
        mode = self._topology.rollout.apply_mode
        if mode not in _REBOOTING:
            return None
        configuration = await pulumi.Output.from_input((args.new_inputs or {})["machineConfigurationInput"]).future()
        reboots, boot = await self._reboots(node, str(configuration), _REBOOTING[mode])
        if reboots:
            await self._may_go_down(node)
        return boot

    async def _reboots(self, node: Node, configuration: str, mode: ApplyMode) -> tuple[bool, str | None]:
        """Tell whether the machine may reboot for a configuration, and the id of its present boot if it surely does."""
        found: tuple[bool, str | None] = (True, None)

        async def look() -> Unmet | None:
            nonlocal found
            client = await fleet.client(node)
            try:
                applied = await client.apply(configuration, mode=mode, dry_run=True)
                found = (True, await client.boot_id()) if applied.mode is ApplyMode.REBOOT else (False, None)
            except TalosError as error:
                if error.code is Code.INVALID_ARGUMENT:
                    raise
                if error.code in {Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED}:
                    return Unmet(error.message, error.cure, "it to say whether the change reboots it")
                # Else it was reset, or its configuration is what has to be fixed.
            return None

        async with self._patience.fleet(await self._credentials()) as fleet:
            await until_met(node, look, self._patience)
        return found

    async def _credentials(self) -> Credentials:
        credentials = await self._secret.future()
        assert credentials is not None  # noqa: S101 - hooks run in updates only, where the secrets are known
        return credentials


async def _no_reboot_of_ours(_: Node) -> None:
    """The provider asks the arithmetic itself, right before it reboots the machine, and waits for it to be back."""
