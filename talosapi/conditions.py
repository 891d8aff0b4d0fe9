"""What is asked of machines: named conditions, each of which says what is unmet or None."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from talosapi import clocks, kubernetes
from talosapi.errors import Code, CredentialsError, TalosError
from talosapi.fleet import Fleet, Machine
from talosapi.results import EtcdMember, Stage


@dataclass(frozen=True)
class Unmet:
    """A condition that does not hold: what was seen, what a person can do, and what is waited for."""

    seen: str
    cure: str
    waiting_for: str = ""


@dataclass(frozen=True)
class Condition:
    """A condition by the name that follows "waiting for". A call that fails in ``look`` leaves it unmet."""

    name: str
    look: Callable[[Fleet, Machine], Awaitable[Unmet | None]]

    async def unmet(self, fleet: Fleet, machine: Machine) -> Unmet | None:
        """Look once. Raises CredentialsError."""
        try:
            found = await self.look(fleet, machine)
        except TalosError as error:
            found = Unmet(error.message, error.cure or f"`talosctl -n {machine.address} services` shows their state")
            if error.code is Code.UNAUTHENTICATED and (times := await clocks.of_certificate(fleet, machine)):
                found = Unmet(f"{error.message}: {times}", clocks.CURE)
        return found and replace(found, waiting_for=found.waiting_for or self.name)


async def first_unmet(fleet: Fleet, machine: Machine, conditions: Sequence[Condition]) -> Unmet | None:
    """Look once and return the first condition that is unmet."""
    # One call at a time: a connection that is lost takes every call on it along.
    for condition in conditions:
        if unmet := await condition.unmet(fleet, machine):
            return unmet
    return None


async def in_maintenance(fleet: Fleet, machine: Machine) -> bool:
    """Tell whether the machine answers without credentials, as one without a configuration does."""
    try:
        await (await fleet.anonymous(machine)).version()
    except TalosError:
        return False
    return True


def unless_in_maintenance(*conditions: Condition) -> Condition:
    """Return the condition that all of these hold, or that the machine waits for its first configuration."""

    async def look(fleet: Fleet, machine: Machine) -> Unmet | None:
        unmet = await first_unmet(fleet, machine, conditions)
        return None if unmet and await in_maintenance(fleet, machine) else unmet

    return Condition("it to answer", look)


def rebooted(boot_id: str) -> Condition:
    """Return the condition that the machine runs another boot than that of ``boot_id``."""

    async def look(fleet: Fleet, machine: Machine) -> Unmet | None:
        cure = "check on its console whether it still shuts down, or boots and fails"
        try:
            back = await (await fleet.client(machine)).boot_id() != boot_id
        except TalosError as error:
            if error.code is Code.UNAUTHENTICATED:
                raise
            return Unmet(error.message, cure)
        return None if back else Unmet("it has not rebooted since the change", cure)

    return Condition("it to be back from its reboot", look)


async def _answers(fleet: Fleet, machine: Machine) -> Unmet | None:
    await (await fleet.client(machine)).version()
    return None


async def _booted(fleet: Fleet, machine: Machine) -> Unmet | None:
    """A control plane without etcd does not get to the end of its boot."""
    try:
        status = await (await fleet.client(machine)).machine_status()
    except TalosError as error:
        if error.code in {Code.UNIMPLEMENTED, Code.NOT_FOUND}:
            return None  # a Talos without this resource; the other conditions stand for themselves
        raise
    if status.stage is Stage.RUNNING:
        return None
    reasons = "; ".join(f"{name}: {reason}" for name, reason in status.unmet)
    seen = f"it is {status.stage.name.lower().replace('_', ' ')}" + (f" ({reasons})" if reasons else "")
    return Unmet(seen, f"`talosctl -n {machine.address} dmesg` and its console say how far it is")


async def _time_synchronised(fleet: Fleet, machine: Machine) -> Unmet | None:
    client = await fleet.client(machine)
    try:
        if await client.time_synchronised():
            return None
    except TalosError as error:
        if error.code in {Code.UNIMPLEMENTED, Code.NOT_FOUND}:
            return None
        raise
    return Unmet(f"its time is not synchronised: {clocks.told(await clocks.of_machine(client))}", clocks.CURE)


def _service_healthy(service: str) -> Condition:
    async def look(fleet: Fleet, machine: Machine) -> Unmet | None:
        found = (await (await fleet.client(machine)).services()).get(service)
        if found and found.up:
            return None
        seen = f"{service} is {found.state}" if found else f"it has no service {service}"
        if found and found.state == "Running":
            seen = f"{service} is running but not healthy"
        if found and found.message:
            seen += f": {found.message}"
        return Unmet(seen, f"`talosctl -n {machine.address} logs {service}` says why")

    return Condition(f"{service} to be healthy", look)


def votes(peers: Sequence[Machine]) -> Condition:
    """Return the condition that the machine's etcd member votes, in its own member list and in that of every peer."""

    async def look(fleet: Fleet, machine: Machine) -> Unmet | None:
        status = await (await fleet.client(machine)).etcd_status()
        if not status.leader:
            return Unmet("its member knows of no leader", _etcd_cure(machine))
        lists = await asyncio.gather(*(_member_list(fleet, peer) for peer in (machine, *peers)))
        for peer, members in zip((machine, *peers), lists, strict=True):
            if isinstance(members, TalosError):
                return Unmet(f"{peer.name} does not say who the members are: {members.message}", members.cure)
            member = next((member for member in members if member.id == status.member_id), None)
            if member is None:
                return Unmet(f"{peer.name} does not have it among the members", _etcd_cure(peer))
            if member.is_learner:
                return Unmet(f"{peer.name} has it as a learner that does not vote yet", _etcd_cure(peer))
        return None

    return Condition("its etcd member to vote", look)


async def _kubernetes_ready(fleet: Fleet, machine: Machine) -> Unmet | None:
    """Ask at the machine's own address."""
    cure = f"`talosctl -n {machine.address} containers -k` and the logs of kube-apiserver say why"
    try:
        context = await fleet.kubernetes_context(machine)
        address, port = str(machine.address), fleet.ports.kubernetes
        answer = await kubernetes.readyz(address, context, port=port, timeout=fleet.call_timeout)
    except CredentialsError as error:
        return Unmet(str(error), cure)
    except kubernetes.KubernetesError as error:
        fleet.forget_kubernetes(machine)
        return Unmet(str(error), cure)
    if answer.ready:
        return None
    failing = f", failing: {', '.join(answer.failing)}" if answer.failing else ""
    return Unmet(f"it answers with status {answer.status}{failing}", cure)


async def _member_list(fleet: Fleet, machine: Machine) -> tuple[EtcdMember, ...] | TalosError:
    """Return the members as this machine's own etcd has them, or why it does not say."""
    try:
        return await (await fleet.client(machine)).etcd_members(local=True)
    except TalosError as error:
        return error


def _etcd_cure(machine: Machine) -> str:
    return f"`talosctl -n {machine.address} etcd members` and `... logs etcd` say more"


ANSWERS = Condition("its machine API to answer with the cluster's certificate", _answers)
BOOTED = Condition("it to have booted", _booted)
TIME = Condition("its time to be synchronised", _time_synchronised)
ETCD = _service_healthy("etcd")
KUBERNETES = Condition("the Kubernetes API on it to be ready", _kubernetes_ready)
KUBELET = _service_healthy("kubelet")

WORKER = (ANSWERS, TIME, BOOTED, KUBELET)
"""What a worker must do to be healthy."""


def control_plane(peers: Sequence[Machine] = ()) -> tuple[Condition, ...]:
    """Return what a control plane must do to be healthy, also in the eyes of its peers."""
    return (ANSWERS, TIME, BOOTED, ETCD, votes(peers), KUBERNETES, KUBELET)
