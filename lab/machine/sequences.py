"""The sequence a machine goes through: one at a time, and which one may take over from which."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from google.protobuf.any_pb2 import Any as AnyMessage

from talosapi.gen import common_pb2
from talosapi.gen.machine_pb2 import Event, SequenceEvent

if TYPE_CHECKING:
    from lab.machine.session import Session

BOOT, REBOOT, RESET, UPGRADE, STAGE_UPGRADE = "boot", "reboot", "reset", "upgrade", "stageUpgrade"
SHUTDOWN, ROLLBACK = "shutdown", "rollback"
_ALWAYS = (SHUTDOWN, ROLLBACK)
_TAKES_OVER_FROM: Mapping[str, tuple[str, ...]] = {
    BOOT: (REBOOT, RESET, UPGRADE),
    REBOOT: (REBOOT,),
    RESET: (REBOOT,),
}


class Sequences:
    """Owns which sequence runs, and the events of every sequence of this boot in the order in which they came.

    A sequence that is not let in is an event with the error LOCKED; the call that asked for it has long succeeded.
    """

    def __init__(self, session: "Session") -> None:
        """Nothing runs yet."""
        self._session = session
        self._task: asyncio.Task[None] | None = None
        self.running = ""
        self.events: list[Event] = []

    def start(self, name: str, actor: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a sequence on behalf of a call, in place of the one that runs if it may take over from that."""
        if self.running and name not in (*_ALWAYS, *_TAKES_OVER_FROM.get(self.running, ())):
            locked = common_pb2.Error(code=common_pb2.LOCKED, message="locked")
            self._session.machine.record("locked", sequence=name, running=self.running)
            return self._say(SequenceEvent(sequence=name, action=SequenceEvent.NOOP, error=locked), actor)
        if self._task:
            self._task.cancel()
        self.running = name
        self._say(SequenceEvent(sequence=name, action=SequenceEvent.START), actor)
        self._task = self._session.spawn(work())
        return None

    async def finish(self) -> None:
        """Wait for the end of the sequence that runs."""
        if self._task:
            await asyncio.gather(self._task, return_exceptions=True)

    def booted(self) -> None:
        """Note that the boot is over, unless something took over from it."""
        if self.running == BOOT:
            self.running = ""

    def _say(self, what: SequenceEvent, actor: str) -> None:
        data = AnyMessage(type_url="talos/runtime/machine.SequenceEvent", value=what.SerializeToString())
        self.events.append(Event(data=data, id=f"lab{len(self.events):017d}", actor_id=actor))
