"""Waiting until machines are healthy, with a deadline, and saying what is missing when they are not."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from talosapi import checks
from talosapi.checks import Check
from talosapi.credentials import Credentials
from talosapi.errors import Code, NotReady, TalosError
from talosapi.fleet import Fleet, Machine, Ports
from talosapi.waiting import Pace, Report, Unmet, until_met

M = TypeVar("M", bound=Machine)


@dataclass(frozen=True)
class Patience:
    """How long is waited for a machine, and how it is asked meanwhile. Times are in seconds.

    A call that breaks is made ``attempts`` times before it counts as seen: all conditions must hold in one look, which
    an API that drops some calls would otherwise never get through.
    """

    timeout: float = 600.0
    call_timeout: float = 5.0
    attempts: int = 3
    pace: Pace = field(default_factory=Pace)
    ports: Ports = field(default_factory=Ports)
    report: Report | None = None

    def fleet(self, credentials: Credentials) -> Fleet:
        """Return the connections for one wait."""
        call_timeout = min(self.call_timeout, self.timeout / (self.attempts + 1))
        return Fleet(credentials, ports=self.ports, call_timeout=call_timeout, attempts=self.attempts)


async def wait_control_plane(
    machine: Machine, credentials: Credentials, *, peers: Sequence[Machine] = (), patience: Patience = Patience()
) -> None:
    """Wait until a control plane does its work: booted, a voting etcd member, Kubernetes API ready, kubelet healthy.

    ``peers`` are the other control planes, each of which must have it as a voting member too. All must hold in the
    same look. Raises NotReady, CredentialsError.
    """
    async with patience.fleet(credentials) as fleet:
        await _wait(fleet, machine, control_plane(peers), patience)


async def wait_worker(machine: Machine, credentials: Credentials, *, patience: Patience = Patience()) -> None:
    """Wait until a worker has booted and its kubelet is healthy. Raises NotReady, CredentialsError."""
    async with patience.fleet(credentials) as fleet:
        await _wait(fleet, machine, WORKER, patience)


async def wait_cluster(
    control_planes: Sequence[Machine],
    workers: Sequence[Machine],
    credentials: Credentials,
    *,
    patience: Patience = Patience(),
) -> None:
    """Wait for all machines at once, then until etcd's members are the control planes and all of them vote.

    Raises one NotReady that names every machine that is not ready, or CredentialsError.
    """
    async with patience.fleet(credentials) as fleet:
        waits = [
            _wait(fleet, machine, control_plane([peer for peer in control_planes if peer is not machine]), patience)
            for machine in control_planes
        ]
        waits += [_wait(fleet, machine, WORKER, patience) for machine in workers]
        _raise_joined(await asyncio.gather(*waits, return_exceptions=True))
        members = [checks.members_are(control_planes)]
        asked = [_wait(fleet, machine, members, patience) for machine in control_planes]
        _raise_joined(await asyncio.gather(*asked, return_exceptions=True))


async def etcd_exists(machines: Sequence[M], credentials: Credentials, patience: Patience = Patience(15.0)) -> M | None:
    """Return a machine on which etcd runs, None when there is surely none: then a bootstrap splits nothing.

    A machine that refuses connections or shows another certificate (maintenance mode) has no etcd of this cluster
    that runs. One that does not answer could have: it is asked until the time is up, then NotReady is raised.
    """
    async with patience.fleet(credentials) as fleet:
        pending = {asyncio.create_task(_runs_etcd(fleet, machine, patience)): machine for machine in machines}
        try:
            failure: NotReady | None = None
            waiting = set(pending)
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    error = task.exception()
                    if isinstance(error, NotReady):
                        failure = error
                    elif task.result():
                        return pending[task]
            if failure:
                raise failure
            return None
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)


def control_plane(peers: Sequence[Machine] = ()) -> list[Check]:
    """Return what a control plane must do to be healthy, also in the eyes of its peers."""
    return [
        checks.running,
        checks.service_healthy("etcd"),
        checks.votes(peers),
        checks.kubernetes_ready,
        checks.service_healthy("kubelet"),
    ]


WORKER: list[Check] = [checks.running, checks.service_healthy("kubelet")]
"""What a worker must do to be healthy."""


async def _wait(fleet: Fleet, machine: Machine, conditions: Sequence[Check], patience: Patience) -> None:
    await until_met(
        label(machine),
        lambda: unmet_of(fleet, machine, conditions),
        timeout=patience.timeout,
        pace=patience.pace,
        report=patience.report,
    )


async def unmet_of(fleet: Fleet, machine: Machine, conditions: Sequence[Check]) -> Unmet | None:
    """Look once and return the first condition that is unmet, that the machine answers at all before the others."""
    # One call at a time: a connection that is lost takes every call on it along.
    for check in (checks.api_answers, *conditions):
        if unmet := await check(fleet, machine):
            return unmet
    return None


async def _runs_etcd(fleet: Fleet, machine: Machine, patience: Patience) -> bool:
    answer = False

    async def look() -> Unmet | None:
        nonlocal answer
        try:
            etcd = (await (await fleet.client(machine)).services()).get("etcd")
        except TalosError as error:
            if error.code is Code.UNAUTHENTICATED or error.refused:
                return None
            cure = f"{error.cure}; without its answer a bootstrap could split the cluster"
            return Unmet("an answer whether etcd runs on it", error.message, cure)
        answer = etcd is not None and etcd.state == "Running"
        return None

    await until_met(label(machine), look, timeout=patience.timeout, pace=patience.pace, report=None)
    return answer


def label(machine: Machine) -> str:
    """Return how messages name a machine."""
    return f"{machine.name} ({machine.address})"


def _raise_joined(results: Sequence[BaseException | None]) -> None:
    for result in results:
        if result is not None and not isinstance(result, NotReady):
            raise result
    failures = [result for result in results if isinstance(result, NotReady)]
    if failures:
        first, *others = failures
        raise NotReady(
            first.node, first.waiting_for, first.seen, first.cure, waited=first.waited, also=tuple(others)
        ) from None
