"""Waiting for the machines of a living cluster, some of which may not have joined it yet."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

from talosapi import checks
from talosapi.credentials import Credentials
from talosapi.errors import Code, TalosError
from talosapi.fleet import Machine
from talosapi.health import Patience, wait_control_plane, wait_worker
from talosapi.waiting import Unmet, until_met


async def wait_others(
    machine: Machine, control_planes: Sequence[Machine], credentials: Credentials, *, patience: Patience
) -> None:
    """Wait until every other control plane that is a member of etcd is healthy. Raises NotReady.

    One that never joined is no member, so it holds nobody up; one that joined and is down does.
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


async def wait_joined_workers(workers: Sequence[Machine], credentials: Credentials, *, patience: Patience) -> None:
    """Wait until every worker that has its configuration is healthy. Raises NotReady."""

    async def one(worker: Machine) -> None:
        if not await _in_maintenance(worker, credentials, patience):
            await wait_worker(worker, credentials, patience=patience)

    await asyncio.gather(*map(one, workers))


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
    addresses: set[str] = set()
    cure = "`talosctl etcd members` on each of them says what they know; restore the quorum before any change"

    async def look() -> Unmet | None:
        seen: list[str] = []
        for members in await asyncio.gather(*(checks.member_list(fleet, plane) for plane in control_planes)):
            if isinstance(members, TalosError):
                seen.append(f"{members.node}: {members.message}")
                continue
            addresses.update(str(urlsplit(url).hostname) for member in members for url in member.peer_urls)
            return None
        return Unmet("any control plane to say who the etcd members are", "; ".join(seen), cure)

    async with patience.fleet(credentials) as fleet:
        await _until(others[0], look, patience)
    return [plane for plane in others if str(plane.address) in addresses]


async def _in_maintenance(machine: Machine, credentials: Credentials, patience: Patience) -> bool:
    async with patience.fleet(credentials) as fleet:
        try:
            await (await fleet.client(machine)).version()
        except TalosError as error:
            return error.code is Code.UNAUTHENTICATED
    return False


async def _until(machine: Machine, look: Callable[[], Awaitable[Unmet | None]], patience: Patience) -> None:
    label = f"{machine.name} ({machine.address})"
    await until_met(label, look, timeout=patience.timeout, pace=patience.pace, report=patience.report)
