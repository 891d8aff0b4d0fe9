"""The machine API's port of a running machine: opened with the right certificate, and closed."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lab.machine import durations
from lab.machine.api import IMPLEMENTATIONS
from lab.machine.dispatch import serve
from lab.machine.identity import Identity, identify, maintenance_identity
from lab.machine.links import why_lost
from lab.machine.listener import Listener
from lab.machine.relay import Relay

if TYPE_CHECKING:
    from lab.machine.session import Session

_LINGER = 0.05  # real seconds in which an answer that was written still goes out
_LONGEST_ANSWER = 5.0  # real seconds


class ApiPort:
    """Owns the listener of one session, and the relay that a control plane has."""

    def __init__(self, session: "Session") -> None:
        """Nothing listens yet."""
        self.relay: Relay | None = None
        self._session = session
        self._listener: Listener | None = None
        self._calls = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Count a call as under way for as long as the block takes."""
        self._calls += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle.set()

    async def maintain(self) -> None:
        """Answer as a machine in maintenance mode."""
        await self._serve(maintenance_identity(self._session))

    async def open(self) -> None:
        """Answer as a configured machine, as soon as it has its certificate."""
        session = self._session
        if why := why_lost(session.settings.documents, session.machine.hardware.ports):
            session.machine.record("address-lost", why=why)
            return
        identity = await identify(session)
        self.relay = Relay(identity.client, session.address) if identity.client else None
        await self._serve(identity)

    async def again(self) -> None:
        """Take new certificates into use."""
        await self.close_after_answers()
        await self.open()

    async def close_after_answers(self) -> None:
        """Close, but let the answers to calls that are under way go out, however busy this computer is."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), _LONGEST_ANSWER)
        await asyncio.sleep(_LINGER)
        self.close()

    def close(self) -> None:
        """Stop listening and cut every connection."""
        if self._listener:
            self._listener.close()

    def plug(self, refuse: bool) -> None:
        """Close or open the port: the fault ``refuse``."""
        if self._listener and refuse:
            self._listener.close()
        elif self._listener:
            self._session.spawn(self._listen(self._listener))

    async def _serve(self, identity: Identity) -> None:
        self._listener = Listener(self._session.address, identity.server, serve(self._session, IMPLEMENTATIONS))
        await self._listen(self._listener)

    async def _listen(self, listener: Listener) -> None:
        machine = self._session.machine
        while not machine.fault("refuse"):
            try:
                return await listener.open()
            except OSError as error:
                machine.record("unreachable", address=listener.address, why=str(error.strerror))
                await machine.world.clock.sleep(durations.RETRY, at_least=0.5)
        return None
