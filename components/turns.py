"""Whose turn it is to change: control planes one at a time, workers in batches, the sick before the healthy."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from talosapi import Credentials, NotReady, etcd
from talosapi.cluster import wait_member, wait_others
from talosapi.conditions import WORKER, control_plane, rebooted, unless_in_maintenance
from talosapi.quorum import Step
from talosapi.waiting import Patience, not_ready, wait
from topology import MachineType, Node, Topology

LOOK = Patience(timeout=5)
"""How long is looked for what is there: a living cluster, machines that are sick."""

_LATE = 15
"""How many seconds a healthy machine waits for a sick one to come, which may have no change of its own."""


class RolloutStopped(Exception):  # noqa: N818 - the machine that stopped the rollout has the error
    """A machine was not changed, because another one failed."""


class Turns:
    """Owns who changes now, and who stopped the run.

    Machines that are sick at the first change of their role come before the healthy ones: their own change may be what
    fixes them, and a healthy one would wait for them in vain. So do control planes that have not joined: every vote
    more makes the next step safer.
    """

    def __init__(
        self, topology: Topology, credentials: Callable[[], Awaitable[Credentials]], patience: Patience
    ) -> None:
        """Begin with nobody changing; ``credentials`` gives the os:admin identity."""
        self._topology = topology
        self._credentials = credentials
        self._patience = patience
        self._free = {
            "controlplane": asyncio.Semaphore(1),
            "worker": asyncio.Semaphore(topology.rollout.workers_at_once),
        }
        self._changing: dict[str, str | None] = {}
        self._came = {node.name: asyncio.Event() for node in topology.nodes}
        self._sick: dict[MachineType, asyncio.Task[frozenset[str]]] = {}
        self._workers_up: asyncio.Task[None] | None = None
        self._stopped_by: str | None = None

    async def begin(self, node: Node, ready: Callable[[Node], Awaitable[str | None]], *, joins: bool = False) -> None:
        """Take the turn once the others are healthy; ``ready`` then looks at the machine, and returns its boot id.

        A sick control plane, unless it only ``joins``, waits for no other's health, as long as no vote is lost.
        Raises RolloutStopped after a machine that failed, and NotReady.
        """
        await self._let_the_sick_go_first(node)
        await self._free[node.machine_type].acquire()
        self._changing[node.name] = None
        try:
            if self._stopped_by:
                raise RolloutStopped(f"{node.name} was left as it was, because {self._stopped_by} failed")
            await self._others_are_healthy(node, joins=joins)
            self._changing[node.name] = await ready(node)
        except BaseException:
            self.end(node, failed=True)
            raise

    async def finish(self, node: Node) -> None:
        """Give the turn back once the machine is healthy again, if it has one. Raises NotReady."""
        if node.name not in self._changing:
            return
        try:
            await self._is_back(node, self._changing[node.name])
        except BaseException:
            self.end(node, failed=True)
            raise
        self.end(node)

    def end(self, node: Node, *, failed: bool = False) -> None:
        """Give the turn back as it is, if the machine has one."""
        if node.name not in self._changing:
            return
        del self._changing[node.name]
        if failed:
            self._stopped_by = self._stopped_by or node.name
        self._free[node.machine_type].release()

    async def _let_the_sick_go_first(self, node: Node) -> None:
        sick = await self._sick_of(node.machine_type)
        self._came[node.name].set()  # and it queues before anybody who waits for this does
        if node.name not in sick:
            await asyncio.gather(*(self._comes(name) for name in sick))

    async def _comes(self, name: str) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._came[name].wait(), _LATE)

    async def _sick_of(self, role: MachineType) -> frozenset[str]:
        """Look once a run, before the first change of a machine of that role."""
        if role not in self._sick:
            self._sick[role] = asyncio.create_task(self._look_for_sick(role))
        return await asyncio.shield(self._sick[role])

    async def _look_for_sick(self, role: MachineType) -> frozenset[str]:
        machines = [node for node in self._topology.nodes if node.machine_type == role]
        healthy = control_plane() if role == "controlplane" else (unless_in_maintenance(*WORKER),)
        wanted = [(machine, healthy) for machine in machines]
        return frozenset(await not_ready(wanted, await self._credentials(), patience=LOOK))

    async def _others_are_healthy(self, node: Node, *, joins: bool) -> None:
        credentials, planes = await self._credentials(), self._topology.controlplanes
        if node.is_controlplane and not joins and node.name in await self._sick_of("controlplane"):
            step, accept = Step.GOES_DOWN, self._topology.rollout.accept_quorum_loss
            with contextlib.suppress(NotReady):
                await etcd.wait_until_it_may(
                    step, node, planes, credentials, patience=self._patience, accept_loss=accept
                )
                return
        await wait_others(node, planes, credentials, patience=self._patience)
        if not node.is_controlplane and node.name not in await self._sick_of("worker"):
            if self._workers_up is None:
                self._workers_up = asyncio.create_task(self._sick_workers_are_up())
            await asyncio.shield(self._workers_up)

    async def _sick_workers_are_up(self) -> None:
        """Once a run, before its first change of a healthy worker: none is down from an earlier run any more."""
        sick = await self._sick_of("worker")
        wanted = [
            (worker, [unless_in_maintenance(*WORKER)]) for worker in self._topology.workers if worker.name in sick
        ]
        await wait(wanted, await self._credentials(), patience=self._patience)

    async def _is_back(self, node: Node, boot: str | None) -> None:
        credentials, patience = await self._credentials(), self._patience
        if boot is not None:
            await wait([(node, [rebooted(boot)])], credentials, patience=patience)
        if node.is_controlplane:
            await wait_member(node, self._topology.controlplanes, credentials, patience=patience)
        else:
            await wait([(node, WORKER)], credentials, patience=patience)
