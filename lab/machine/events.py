"""The stream of events: the stage of the machine as it changes, and the end of the session."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from google.protobuf.any_pb2 import Any as AnyMessage

from lab.machine.dispatch import Call
from lab.machine.session_ends import REBOOT
from talosapi.gen.machine_pb2 import Event, MachineStatusEvent, SequenceEvent

if TYPE_CHECKING:
    from lab.machine.session import Session

_POLL = 0.1  # real seconds between two looks
_STAGE = "MachineStatusEvent"


async def events(call: Call) -> AsyncIterator[Event]:
    """An empty event (the stream is set up), then what changes, after what was before if that is asked for."""
    session = call.session
    yield Event()
    before = b"" if call.request.tail_events else _status(session)
    number = 0
    while not session.ending.done():
        if (now := _status(session)) != before:
            before, number = now, number + 1
            yield _event(_STAGE, now, number)
        await asyncio.sleep(_POLL)
    how = REBOOT if session.ending.result().endswith(REBOOT) else "shutdown"
    start = SequenceEvent(sequence=how, action=SequenceEvent.START)
    yield _event("SequenceEvent", start.SerializeToString(), number + 1, session.actor)
    # a task event has its name in the field where a sequence event has its own
    task = SequenceEvent(sequence="stopAllServices").SerializeToString()
    yield _event("TaskEvent", task, number + 2, session.actor)


def _status(session: "Session") -> bytes:
    ready = session.stage == "running" and session.kubelet.running
    stage = MachineStatusEvent.MachineStage.Value(session.stage.upper())
    status = MachineStatusEvent.MachineStatus(ready=ready)
    return MachineStatusEvent(stage=stage, status=status).SerializeToString()


def _event(name: str, value: bytes, number: int, actor: str = "") -> Event:
    data = AnyMessage(type_url=f"talos/runtime/machine.{name}", value=value)
    return Event(data=data, id=f"lab{number:017d}", actor_id=actor)
