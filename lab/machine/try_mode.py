"""Configurations that are applied to be tried: taken back by themselves unless one is kept."""

import asyncio
from typing import TYPE_CHECKING

from lab.machine.settings import Settings

if TYPE_CHECKING:
    from lab.machine.session import Session


class TryMode:
    """The configuration that one session tries. Owns the timer."""

    def __init__(self, session: "Session") -> None:
        """Nothing is tried yet."""
        self._session = session
        self._timer: asyncio.Task[None] | None = None

    def start(self, seconds: float) -> None:
        """Go back to the present configuration after ``seconds`` simulated seconds."""
        self.cancel()
        self._timer = self._session.spawn(self._take_back(seconds, self._session.text, self._session.settings))

    def cancel(self) -> None:
        """Keep the configuration that is tried."""
        if self._timer:
            self._timer.cancel()

    async def _take_back(self, seconds: float, text: str | None, settings: Settings) -> None:
        await self._session.machine.world.clock.sleep(seconds)
        self._session.machine.record("configuration-taken-back")
        if text is not None:
            self._session.configure(text, settings)
