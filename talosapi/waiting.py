"""Looking again and again at machines until all is well, or the time is up."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from talosapi.conditions import Condition, Unmet, first_unmet
from talosapi.credentials import Credentials
from talosapi.errors import NotReady
from talosapi.fleet import Fleet, Machine, Ports

Report = Callable[[str], None]
Wanted = Iterable[tuple[Machine, Sequence[Condition]]]
"""What is waited for on which machine."""

SAY_EVERY = 30.0
"""Seconds after which a wait says again what it waits for."""

_NOTHING_YET = Unmet("nothing in all that time", "look at its console", "it to answer")


@dataclass(frozen=True)
class Pace:
    """Seconds between two looks: the first pause, what each next one is multiplied with, and the longest."""

    first: float = 0.1
    factor: float = 1.6
    longest: float = 2.0


@dataclass(frozen=True)
class Patience:
    """How long is waited for a machine, and how it is asked meanwhile. Times are in seconds.

    A call that breaks is made ``attempts`` times before it counts as seen: all conditions must hold in one look, which
    an API that drops some calls would otherwise never get through. ``report`` gets a line whenever something else than
    before is waited for, and every ``SAY_EVERY`` seconds one that says what was seen last.
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


async def wait(wanted: Wanted, credentials: Credentials, *, patience: Patience = Patience()) -> None:
    """Wait until all conditions of each machine hold in the same look at it.

    Raises one NotReady that names every machine of which they do not, or CredentialsError.
    """
    failures = await not_ready(wanted, credentials, patience=patience)
    if failures:
        raise joined(failures.values())


async def not_ready(wanted: Wanted, credentials: Credentials, *, patience: Patience) -> dict[str, NotReady]:
    """Wait likewise, and return by name the machines that did not come to it. Raises CredentialsError."""
    wanted = list(wanted)
    async with patience.fleet(credentials) as fleet:
        waits = (_wait(fleet, machine, conditions, patience) for machine, conditions in wanted)
        results = await asyncio.gather(*waits, return_exceptions=True)
    for result in results:
        if result is not None and not isinstance(result, NotReady):
            raise result
    named = zip((machine.name for machine, _ in wanted), results, strict=True)
    return {name: result for name, result in named if isinstance(result, NotReady)}


def joined(failures: Iterable[NotReady]) -> NotReady:
    """Return one error that names them all."""
    first, *others = failures
    return NotReady(first.node, first.waiting_for, first.seen, first.cure, waited=first.waited, also=tuple(others))


async def _wait(fleet: Fleet, machine: Machine, conditions: Sequence[Condition], patience: Patience) -> None:
    await until_met(machine, lambda: first_unmet(fleet, machine, conditions), patience)


async def until_met(machine: Machine, look: Callable[[], Awaitable[Unmet | None]], patience: Patience) -> None:
    """Look until nothing is unmet; raises NotReady when the time is up."""
    clock = asyncio.get_running_loop().time
    start, pause, told = clock(), patience.pace.first, ""
    unmet: Unmet | None = _NOTHING_YET
    report = patience.report or (lambda _: None)

    def line(waited: float) -> str:
        last = unmet or _NOTHING_YET
        return f"{label(machine)}: still waiting for {last.waiting_for} after {waited:.0f} s; last seen: {last.seen}"

    async with saying(report, line):
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(start + patience.timeout):
                    unmet = await look()
            if unmet is None:
                return
            if unmet.waiting_for != told:
                told = unmet.waiting_for
                report(f"{label(machine)}: waiting for {told}")
            waited = clock() - start
            if waited + pause > patience.timeout:
                raise NotReady(label(machine), unmet.waiting_for, unmet.seen, unmet.cure, waited=waited)
            await asyncio.sleep(pause)
            pause = min(pause * patience.pace.factor, patience.pace.longest)


@contextlib.asynccontextmanager
async def saying(report: Report, line: Callable[[float], str]) -> AsyncIterator[None]:
    """Report ``line(seconds)`` every ``SAY_EVERY`` seconds for as long as the block takes."""
    start = asyncio.get_running_loop().time()

    async def say() -> None:
        while True:
            await asyncio.sleep(SAY_EVERY)
            report(line(asyncio.get_running_loop().time() - start))

    task = asyncio.create_task(say())
    try:
        yield
    finally:
        task.cancel()


def label(machine: Machine) -> str:
    """Return how messages name a machine."""
    return f"{machine.name} ({machine.address})"
