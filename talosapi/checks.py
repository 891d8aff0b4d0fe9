"""What makes a machine healthy: one function for each condition, which says what is unmet or None."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from talosapi import kubernetes
from talosapi.errors import Code, CredentialsError, TalosError
from talosapi.fleet import Fleet, Machine
from talosapi.results import EtcdMember, EtcdStatus, Stage
from talosapi.waiting import Unmet

Check = Callable[[Fleet, Machine], Awaitable[Unmet | None]]


async def api_answers(fleet: Fleet, machine: Machine) -> Unmet | None:
    """Require an answer under the cluster's certificate, so neither maintenance mode nor another cluster."""
    try:
        await (await fleet.client(machine)).version()
    except TalosError as error:
        return Unmet("its machine API to answer with the cluster's certificate", error.message, _cure(error, machine))
    return None


async def running(fleet: Fleet, machine: Machine) -> Unmet | None:
    """Require the end of the boot: every service was started. A control plane without etcd does not get there."""
    waiting_for = "it to have booted"
    try:
        status = await (await fleet.client(machine)).machine_status()
    except TalosError as error:
        if error.code in {Code.UNIMPLEMENTED, Code.NOT_FOUND}:
            return None  # a Talos without this resource; the other conditions stand for themselves
        return Unmet(waiting_for, error.message, _cure(error, machine))
    if status.stage is Stage.RUNNING:
        return None
    reasons = "; ".join(f"{name}: {reason}" for name, reason in status.unmet)
    seen = f"it is {status.stage.name.lower().replace('_', ' ')}" + (f" ({reasons})" if reasons else "")
    return Unmet(waiting_for, seen, f"`talosctl -n {machine.address} dmesg` and its console say how far it is")


def service_healthy(service: str) -> Check:
    """Return the check that a service of Talos runs and is healthy."""

    async def check(fleet: Fleet, machine: Machine) -> Unmet | None:
        waiting_for = f"{service} to be healthy"
        try:
            found = (await (await fleet.client(machine)).services()).get(service)
        except TalosError as error:
            return Unmet(waiting_for, error.message, _cure(error, machine))
        if found and found.up:
            return None
        seen = f"{service} is {found.state}" if found else f"it has no service {service}"
        if found and found.state == "Running":
            seen = f"{service} runs and is not healthy"
        if found and found.message:
            seen += f": {found.message}"
        return Unmet(waiting_for, seen, f"`talosctl -n {machine.address} logs {service}` says why")

    return check


def votes(peers: Sequence[Machine]) -> Check:
    """Return the check that the machine's etcd member votes, in its own member list and in that of every peer."""

    async def check(fleet: Fleet, machine: Machine) -> Unmet | None:
        waiting_for = "its etcd member to vote"
        try:
            status = await (await fleet.client(machine)).etcd_status()
        except TalosError as error:
            return Unmet(waiting_for, error.message, _cure(error, machine))
        if not status.leader:
            return Unmet(waiting_for, "its member knows of no leader", _etcd_cure(machine))
        lists = await asyncio.gather(*(member_list(fleet, peer) for peer in (machine, *peers)))
        for peer, members in zip((machine, *peers), lists, strict=True):
            if isinstance(members, TalosError):
                seen = f"{peer.name} does not say who the members are: {members.message}"
                return Unmet(waiting_for, seen, _cure(members, peer))
            member = next((member for member in members if member.id == status.member_id), None)
            if member is None:
                return Unmet(waiting_for, f"{peer.name} does not have it among the members", _etcd_cure(peer))
            if member.is_learner:
                return Unmet(waiting_for, f"{peer.name} has it as a learner that does not vote yet", _etcd_cure(peer))
        return None

    return check


async def kubernetes_ready(fleet: Fleet, machine: Machine) -> Unmet | None:
    """Require that the Kubernetes API at the machine's own address says that it is ready."""
    waiting_for = "the Kubernetes API on it to be ready"
    cure = f"`talosctl -n {machine.address} containers -k` and the logs of kube-apiserver say why"
    try:
        context = await fleet.kubernetes_context(machine)
        address, port = str(machine.address), fleet.ports.kubernetes
        answer = await kubernetes.readyz(address, context, port=port, timeout=fleet.call_timeout)
    except TalosError as error:
        return Unmet(waiting_for, error.message, _cure(error, machine))
    except CredentialsError as error:
        return Unmet(waiting_for, str(error), cure)
    except kubernetes.KubernetesError as error:
        fleet.forget_kubernetes(machine)
        return Unmet(waiting_for, str(error), cure)
    if answer.ready:
        return None
    failing = f", failing: {', '.join(answer.failing)}" if answer.failing else ""
    return Unmet(waiting_for, f"it answers with status {answer.status}{failing}", cure)


def members_are(control_planes: Sequence[Machine]) -> Check:
    """Return the check that etcd's members are these control planes and no others, and that all of them vote."""

    async def check(fleet: Fleet, machine: Machine) -> Unmet | None:
        waiting_for = "the etcd members to be the control planes"
        members = await member_list(fleet, machine)
        if isinstance(members, TalosError):
            return Unmet(waiting_for, members.message, _cure(members, machine))
        own: set[int] = set()
        for status in await asyncio.gather(*(_etcd_status(fleet, peer) for peer in control_planes)):
            if isinstance(status, TalosError):
                return Unmet(waiting_for, f"{status.node}: {status.message}", _cure(status, machine))
            own.add(status.member_id)
        strangers = [member for member in members if member.id not in own]
        if strangers:
            names = ", ".join(f"{member.hostname or 'one without a name'} ({member.id:016x})" for member in strangers)
            cure = f"remove those that are gone for good: `talosctl -n {machine.address} etcd remove-member ID`"
            return Unmet(waiting_for, f"there are also {names}", cure)
        voting = sum(not member.is_learner for member in members)
        if voting < len(control_planes):
            return Unmet(waiting_for, f"{voting} of {len(control_planes)} vote", _etcd_cure(machine))
        return None

    return check


async def member_list(fleet: Fleet, machine: Machine) -> tuple[EtcdMember, ...] | TalosError:
    """Return the members as this machine's own etcd has them, or why it does not say."""
    try:
        return await (await fleet.client(machine)).etcd_members(local=True)
    except TalosError as error:
        return error


async def _etcd_status(fleet: Fleet, machine: Machine) -> EtcdStatus | TalosError:
    try:
        return await (await fleet.client(machine)).etcd_status()
    except TalosError as error:
        return error


def _cure(error: TalosError, machine: Machine) -> str:
    return error.cure or f"`talosctl -n {machine.address} services` says how it is"


def _etcd_cure(machine: Machine) -> str:
    return f"`talosctl -n {machine.address} etcd members` and `... logs etcd` say more"
