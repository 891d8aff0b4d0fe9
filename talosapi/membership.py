"""Waiting for the machines of a living cluster, some of which may not have joined it yet."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from talosapi import checks
from talosapi.checks import Check
from talosapi.credentials import Credentials
from talosapi.errors import Code, NotReady, TalosError
from talosapi.fleet import Fleet, Machine
from talosapi.health import WORKER, Patience, label, unmet_of, wait_control_plane
from talosapi.results import EtcdMember
from talosapi.waiting import Unmet, until_met


async def wait_others(
    machine: Machine, control_planes: Sequence[Machine], credentials: Credentials, *, patience: Patience
) -> None:
    """Wait until every other control plane that is a member of etcd is healthy. Raises NotReady.

    One that never joined is no member, so it holds nobody up; one that joined and is down does. So does a member that
    is none of the control planes: it counts for the majority, and nothing is known of it.
    """
    others = [plane for plane in control_planes if plane.name != machine.name]
    joined = await _members(others, control_planes, credentials, patience)
    await asyncio.gather(
        *(
            wait_control_plane(
                plane, credentials, peers=[peer for peer in joined if peer is not plane], patience=patience
            )
            for plane in joined
        )
    )


async def wait_member(
    machine: Machine, control_planes: Sequence[Machine], credentials: Credentials, *, patience: Patience
) -> None:
    """Wait until a control plane is healthy and every other member has it as a voting one. Raises NotReady."""
    others = [plane for plane in control_planes if plane.name != machine.name]
    joined = await _members(others, control_planes, credentials, patience)
    await wait_control_plane(machine, credentials, peers=joined, patience=patience)


async def wait_workers(workers: Sequence[Machine], credentials: Credentials, *, patience: Patience) -> None:
    """Wait until every worker is healthy, or waits in maintenance mode for its first configuration. Raises NotReady."""
    async with patience.fleet(credentials) as fleet:
        await asyncio.gather(*(_settled(fleet, worker, WORKER, patience) for worker in workers))


async def sick(
    machines: Sequence[Machine], healthy: Sequence[Check], credentials: Credentials, *, patience: Patience
) -> frozenset[str]:
    """Return the names of those that are not ``healthy`` within the time. One in maintenance mode is not sick."""
    quiet = replace(patience, report=None)
    async with patience.fleet(credentials) as fleet:
        looks = (_settled(fleet, machine, healthy, quiet) for machine in machines)
        found = await asyncio.gather(*looks, return_exceptions=True)
    for error in found:
        if error and not isinstance(error, NotReady):
            raise error
    return frozenset(machine.name for machine, error in zip(machines, found, strict=True) if error)


async def etcd_runs(control_planes: Sequence[Machine], credentials: Credentials, *, patience: Patience) -> bool | None:
    """Return whether a control plane runs etcd: False when each says that it does not, None when some do not say.

    A machine in maintenance mode says so by its certificate. One that refuses connections says nothing: it may reboot.
    """
    answers: list[bool | None] = []

    async def look() -> Unmet | None:
        answers[:] = await asyncio.gather(*(_runs_etcd(fleet, plane) for plane in control_planes))
        return None if True in answers or None not in answers else Unmet("an answer whether etcd runs", "", "")

    async with patience.fleet(credentials) as fleet:
        try:
            await _until(control_planes[0], look, replace(patience, report=None))
        except NotReady:
            return None
    return True in answers


async def wait_answer(machine: Machine, credentials: Credentials, *, patience: Patience) -> None:
    """Wait until a machine answers at all, under the cluster's certificate or in maintenance mode. Raises NotReady."""

    async with patience.fleet(credentials) as fleet:
        await _settled(fleet, machine, (), patience)


async def wait_rebooted(machine: Machine, boot_id: str, credentials: Credentials, *, patience: Patience) -> None:
    """Wait until a machine runs another boot than that of ``boot_id``. Raises NotReady."""
    cure = "see on its console whether it still shuts down, or boots and fails"

    async def look() -> Unmet | None:
        try:
            if await (await fleet.client(machine)).boot_id() != boot_id:
                return None
            seen = "it still runs the boot of before the change"
        except TalosError as error:
            seen = error.message
        return Unmet("it to be back from its reboot", seen, cure)

    async with patience.fleet(credentials) as fleet:
        await _until(machine, look, patience)


async def _members(
    others: Sequence[Machine], control_planes: Sequence[Machine], credentials: Credentials, patience: Patience
) -> list[Machine]:
    """Return those of the others that are members of etcd, as the first control plane that answers has them."""
    if not others:
        return []
    known = {str(plane.address) for plane in control_planes}
    joined: set[str] = set()
    cure = "`talosctl etcd members` on each of them says what they know; restore the quorum before any change"

    async def look() -> Unmet | None:
        lists = await asyncio.gather(*(checks.member_list(fleet, plane) for plane in control_planes))
        silent = [f"{members.node}: {members.message}" for members in lists if isinstance(members, TalosError)]
        if len(silent) == len(lists):
            return Unmet("any control plane to say who the etcd members are", "; ".join(silent), cure)
        members = {member.id: member for found in lists if not isinstance(found, TalosError) for member in found}
        addresses = {id_: {str(urlsplit(url).hostname) for url in member.peer_urls} for id_, member in members.items()}
        joined.update(*addresses.values())
        return next((_stranger(members[id_]) for id_, own in addresses.items() if not own & known), None)

    async with patience.fleet(credentials) as fleet:
        await _until(others[0], look, patience)
    return [plane for plane in others if str(plane.address) in joined]


def _stranger(member: EtcdMember) -> Unmet:
    name = f"{member.hostname or 'one without a name'} ({member.id:016x})"
    return Unmet(
        "the etcd members to be control planes of the stack",
        f"there is also {name}, which counts for the majority",
        f"if it is gone for good, remove it: `talosctl etcd remove-member {member.id:016x}`",
    )


async def _settled(fleet: Fleet, machine: Machine, healthy: Sequence[Check], patience: Patience) -> None:
    """Wait until a machine is healthy, or in maintenance mode. Raises NotReady."""

    async def look() -> Unmet | None:
        return None if await _in_maintenance(fleet, machine) else await unmet_of(fleet, machine, healthy)

    await _until(machine, look, patience)


async def _in_maintenance(fleet: Fleet, machine: Machine) -> bool:
    """Tell whether the machine answers, but not with the cluster's certificate."""
    try:
        await (await fleet.client(machine)).version()
    except TalosError as error:
        return error.code is Code.UNAUTHENTICATED
    return False


async def _runs_etcd(fleet: Fleet, machine: Machine) -> bool | None:
    """Return whether the machine runs etcd, None where it does not say."""
    try:
        etcd = (await (await fleet.client(machine)).services()).get("etcd")
    except TalosError as error:
        return False if error.code is Code.UNAUTHENTICATED else None
    return etcd is not None and etcd.state == "Running"


async def _until(machine: Machine, look: Callable[[], Awaitable[Unmet | None]], patience: Patience) -> None:
    await until_met(label(machine), look, timeout=patience.timeout, pace=patience.pace, report=patience.report)
