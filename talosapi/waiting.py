"""Looking again and again at one machine until all is well, or the time is up."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from talosapi.errors import NotReady

Report = Callable[[str], None]


@dataclass(frozen=True)
class Pace:
    """Seconds between two looks: the first pause, what each next one is multiplied with, and the longest."""

    first: float = 0.1
    factor: float = 1.6
    longest: float = 2.0


@dataclass(frozen=True)
class Unmet:
    """A named condition that does not hold: what is waited for, what was seen, what a person can do."""

    waiting_for: str
    seen: str
    cure: str


_NOTHING_YET = Unmet("it to answer", "nothing in all that time", "look at its console")


async def until_met(
    node: str,
    look: Callable[[], Awaitable[Unmet | None]],
    *,
    timeout: float,
    pace: Pace,
    report: Report | None = None,
) -> None:
    """Look until nothing is unmet; raises NotReady after ``timeout`` seconds.

    ``report`` gets a line whenever something else than before is waited for.
    """
    clock = asyncio.get_running_loop().time
    start = clock()
    pause, told = pace.first, ""
    unmet: Unmet | None = _NOTHING_YET
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(start + timeout):
                unmet = await look()
        if unmet is None:
            return
        if report and unmet.waiting_for != told:
            told = unmet.waiting_for
            report(f"{node}: waiting for {told}")
        waited = clock() - start
        if waited + pause > timeout:
            raise NotReady(node, unmet.waiting_for, unmet.seen, unmet.cure, waited=waited)
        await asyncio.sleep(pause)
        pause = min(pause * pace.factor, pace.longest)
