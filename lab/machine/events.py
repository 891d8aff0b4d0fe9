"""The stream of events: what the machine says of itself as it changes, its sequences, and the end of the session."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from google.protobuf.any_pb2 import Any as AnyMessage

from lab.machine import status
from lab.machine.dispatch import Call
from talosapi.gen.machine_pb2 import Event, MachineStatusEvent, SequenceEvent

if TYPE_CHECKING:
    from lab.machine.session import Session

_POLL = 0.02  # real seconds between two looks: shorter than a port lingers before it closes


async def events(call: Call) -> AsyncIterator[Event]:
    """An empty event (the stream is set up), then what changes, after what was before if that is asked for.

    It never ends by itself: a machine that goes down cuts it off.
    """
    session = call.session
    sequences = session.sequences
    yield Event()
    tail = bool(call.request.tail_events)
    before = b"" if tail else _status(session)
    seen = 0 if tail else len(sequences.events)
    while True:
        ended = session.ending.done()
        if (now := _status(session)) != before:
            before = now
            yield _event("MachineStatusEvent", now, len(sequences.events))
        for event in sequences.events[seen:]:
            yield event
        seen = len(sequences.events)
        if ended:
            break
        await asyncio.sleep(_POLL)
    # a task event has its name in the field where a sequence event has its own
    task = SequenceEvent(sequence="stopAllServices").SerializeToString()
    yield _event("TaskEvent", task, seen, session.actor)
    await asyncio.Event().wait()


def _event(name: str, value: bytes, number: int, actor: str = "") -> Event:
    data = AnyMessage(type_url=f"talos/runtime/machine.{name}", value=value)
    return Event(data=data, id=f"lab{number:017d}", actor_id=actor)


def _status(session: "Session") -> bytes:
    missing = status.unmet(session)
    told = MachineStatusEvent.MachineStatus(ready=not missing)
    for name, reason in missing:
        told.unmet_conditions.add(name=name, reason=reason)
    stage = MachineStatusEvent.MachineStage.Value(session.stage.upper())
    return MachineStatusEvent(stage=stage, status=told).SerializeToString()
