"""Waiting for the machines of a cluster together: for all of them, or for those that have joined it."""

from collections.abc import Sequence

from talosapi import etcd
from talosapi.conditions import WORKER, Condition, Unmet, control_plane
from talosapi.credentials import Credentials
from talosapi.fleet import Fleet, Machine
from talosapi.members import Etcd, Reason, stranger
from talosapi.waiting import Patience, until_met, wait


async def wait_cluster(
    planes: Sequence[Machine], workers: Sequence[Machine], credentials: Credentials, *, patience: Patience
) -> None:
    """Wait for all machines at once, then until etcd's members are the control planes and all of them vote.

    Raises one NotReady that names every machine that is not ready, or CredentialsError.
    """
    wanted = [(plane, control_plane([peer for peer in planes if peer is not plane])) for plane in planes]
    await wait([*wanted, *((worker, WORKER) for worker in workers)], credentials, patience=patience)
    await wait([(planes[0], [_members_are(planes)])], credentials, patience=patience)


async def wait_others(
    machine: Machine, planes: Sequence[Machine], credentials: Credentials, *, patience: Patience
) -> None:
    """Wait until every other control plane that is a member of etcd is healthy. Raises NotReady.

    A member that is none of the control planes holds everybody up: it counts for the majority.
    """
    others = await _other_members(machine, planes, credentials, patience)
    wanted = [(plane, control_plane([peer for peer in others if peer is not plane])) for plane in others]
    await wait(wanted, credentials, patience=patience)


async def wait_member(
    machine: Machine, planes: Sequence[Machine], credentials: Credentials, *, patience: Patience
) -> None:
    """Wait until a control plane is healthy and every other member has it as a voting one. Raises NotReady."""
    others = await _other_members(machine, planes, credentials, patience)
    await wait([(machine, control_plane(others))], credentials, patience=patience)


async def _other_members(
    machine: Machine, planes: Sequence[Machine], credentials: Credentials, patience: Patience
) -> list[Machine]:
    """Return the other control planes that are members, as those that answer have them."""
    others = [plane for plane in planes if plane.name != machine.name]
    joined: list[str] = []

    async def look(fleet: Fleet) -> Unmet | None:
        members = Etcd.of(await etcd.views(fleet, planes))
        joined[:] = [seat.view.name for seat in members.seats if seat.view]
        reasons = [stranger(seat, members) for seat in members.strangers] if members.seats else [*members.doubts()]
        return _unmet("the etcd members to be control planes of the stack", reasons)

    if others:
        async with patience.fleet(credentials) as fleet:
            await until_met(others[0], lambda: look(fleet), patience)
    return [plane for plane in others if plane.name in joined]


def _unmet(waiting_for: str, reasons: Sequence[Reason]) -> Unmet | None:
    if not reasons:
        return None
    cures = dict.fromkeys(reason.cure for reason in reasons if reason.cure)
    return Unmet("; ".join(reason.words for reason in reasons), "; ".join(cures), waiting_for)


def _members_are(planes: Sequence[Machine]) -> Condition:
    """Return the condition that etcd's members are these control planes and no others, and that all of them vote."""
    name = "the etcd members to be the control planes"

    async def look(fleet: Fleet, _: Machine) -> Unmet | None:
        members = Etcd.of(await etcd.views(fleet, planes))
        missing = [Reason(f"{view.name} does not vote: {view.said}", view.cure) for view in members.not_voting]
        return _unmet(name, [*members.doubts()] or missing)

    return Condition(name, look)
