"""What control planes say of etcd: whether there is one at all, and who its members are."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from talosapi import quorum
from talosapi.conditions import Condition, Unmet, in_maintenance
from talosapi.credentials import Credentials
from talosapi.errors import Code, NotReady, TalosError
from talosapi.fleet import Fleet, Machine
from talosapi.members import Etcd, View
from talosapi.quorum import Decision, Step
from talosapi.results import EtcdMember
from talosapi.waiting import Patience, label, until_met

_DATA = "/var/lib/etcd/member/snap/db"
_SILENT = frozenset({Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED})


@dataclass(frozen=True)
class Existence:
    """Whether a cluster has an etcd: ``where`` it is, or who did not say; neither means that there is surely none."""

    where: Machine | None = None
    unknown: tuple[NotReady, ...] = ()

    @property
    def yes(self) -> bool | None:
        """Return the answer, None for unknown."""
        return True if self.where else None if self.unknown else False


async def existence(planes: Sequence[Machine], credentials: Credentials, *, patience: Patience) -> Existence:
    """Look until a control plane has etcd, or all say that they never had, or the time is up.

    A machine in maintenance mode has none, and neither has one that waits for its bootstrap or for a member to let it
    join, with no data. One that refuses, does not answer, answers with something else or is still booting says nothing.
    """
    async with patience.fleet(credentials) as fleet:
        pending = {asyncio.create_task(_look_for_etcd(fleet, plane, patience)): plane for plane in planes}
        try:
            unknown: list[NotReady] = []
            for done in asyncio.as_completed(pending):
                answer = await done
                if isinstance(answer, NotReady):
                    unknown.append(answer)
                elif answer:
                    return Existence(where=answer)
            return Existence(unknown=tuple(unknown))
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)


async def _look_for_etcd(fleet: Fleet, plane: Machine, patience: Patience) -> Machine | NotReady | None:
    """Return the machine if it has etcd, None if it has not, what was seen last if it does not say."""
    found = False

    async def look(fleet: Fleet, plane: Machine) -> Unmet | None:
        nonlocal found
        if await in_maintenance(fleet, plane):
            return None
        client = await fleet.client(plane)
        etcd = (await client.services()).get("etcd")
        found = (etcd is not None and etcd.state == "Running") or await client.has(_DATA)
        if found or (etcd and etcd.state == "Preparing"):
            return None
        seen = f"its etcd is {etcd.state}: {etcd.message}" if etcd else "it has no etcd service yet"
        return Unmet(seen, f"`talosctl -n {plane.address} service etcd` says what it waits for")

    condition = Condition("it to say whether it has etcd, because a second bootstrap could split the cluster", look)
    try:
        await until_met(plane, lambda: condition.unmet(fleet, plane), patience)
    except NotReady as error:
        return error
    return plane if found else None


async def views(fleet: Fleet, planes: Sequence[Machine]) -> list[View]:
    """Ask every control plane of the stack file, and every member that is none of them."""
    found = list(await asyncio.gather(*(_view(fleet, plane) for plane in planes)))
    strangers = [_Stranger.of(seat.member) for seat in Etcd.of(found).strangers]
    asked = await asyncio.gather(*(_view(fleet, stranger) for stranger in strangers))
    return found + [replace(view, in_file=False) for view in asked]


async def _view(fleet: Fleet, machine: Machine) -> View:
    view = View(machine.name, str(machine.address), up=None)
    try:
        client = await fleet.client(machine)
        service = (await client.services()).get("etcd")
        if service is None or service.state != "Running":
            said = f"etcd is {service.state}: {service.message}" if service else "it runs no etcd"
            cure = f"`talosctl -n {machine.address} service etcd` says why"
            return replace(view, up=False, said=said, cure=cure)
        status = await client.etcd_status()
        members = await client.etcd_members(local=True)
    except TalosError as error:
        if await in_maintenance(fleet, machine):
            return replace(view, up=False, said="it is in maintenance mode", answers=False)
        return replace(view, said=error.message, cure=error.cure, answers=error.code not in _SILENT)
    view = replace(view, members=members, member_id=status.member_id)
    if service.up and status.leader:
        return replace(view, up=True)
    return replace(view, said="its etcd knows of no leader" if service.up else "its etcd is not healthy")


@dataclass(frozen=True)
class _Stranger:
    """A member that is no control plane of the stack file, at the address that the members know it by."""

    name: str
    address: str

    @classmethod
    def of(cls, member: EtcdMember) -> "_Stranger":
        """Take the first address."""
        address = next((str(urlsplit(url).hostname) for url in member.peer_urls), "an unknown address")
        return cls(f"{member.hostname or 'a member without a name'} at {address}", address)


async def wait_until_it_may(
    step: Step,
    machine: Machine,
    planes: Sequence[Machine],
    credentials: Credentials,
    *,
    patience: Patience,
    accept_loss: bool = False,
) -> Decision:
    """Wait until the arithmetic allows a step of a control plane. Raises NotReady with it, at once where it must.

    A member that is down while others are too may be about to come up, so it has half the time for that.
    """
    began = asyncio.get_running_loop().time()
    decision = Decision(False, "")

    async def look(fleet: Fleet) -> Unmet | None:
        nonlocal decision
        decision = quorum.may(step, machine.name, await views(fleet, planes), accept_loss=accept_loss)
        early = asyncio.get_running_loop().time() - began < patience.timeout / 2
        if decision.yes and not (decision.while_down and early):
            return None
        waiting_for = f"a majority of etcd that lets it {step.value}"
        if decision.lasting:
            raise NotReady(label(machine), waiting_for, decision.words, decision.cure)
        return Unmet(decision.words, decision.cure, waiting_for)

    async with patience.fleet(credentials) as fleet:
        await until_met(machine, lambda: look(fleet), patience)
    return decision
