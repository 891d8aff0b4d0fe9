"""Every call to a machine passes here: faults, who asks, for which machine, may they, what came of it."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from google.protobuf.message import Message
from grpclib import GRPCError, Status
from grpclib.const import Handler
from grpclib.server import Stream

from lab.machine import relay, releases
from lab.machine.roles import IMPERSONATOR, KNOWN, READER, ROLE_METADATA, may_call
from talosapi.gen import cluster_grpc, cosi_grpc, image_grpc, lifecycle_grpc, machine_grpc, storage_grpc

if TYPE_CHECKING:
    from lab.machine.session import Session


@dataclass(frozen=True)
class Call:
    """One call as its implementation sees it."""

    session: "Session"
    request: Any
    roles: frozenset[str] = field(default=frozenset())
    chunks: tuple[Any, ...] = ()


Implementation = Callable[[Call], Awaitable[Message]] | Callable[[Call], AsyncIterator[Message]]
_BASES = (
    *(machine_grpc.MachineServiceBase, storage_grpc.StorageServiceBase, cluster_grpc.ClusterServiceBase),
    *(image_grpc.ImageServiceBase, lifecycle_grpc.LifecycleServiceBase, cosi_grpc.StateBase),
)
_NEWER = ("/machine.LifecycleService/", "/machine.ImageService/")


class _Hollow:
    """Stands in for an implementation where only the types of the methods are wanted."""

    def __getattr__(self, name: str) -> None:
        return None


def _declared() -> dict[str, Handler]:
    methods: dict[str, Handler] = {}
    for base in _BASES:
        methods.update(base.__mapping__(_Hollow()))  # type: ignore[arg-type]
    return methods


METHODS: Mapping[str, Handler] = _declared()


def serve(session: "Session", implementations: Mapping[str, Implementation]) -> dict[str, Handler]:
    """The methods of one session for grpclib; a declared method without an implementation is Unimplemented."""
    return {
        path: Handler(partial(_serve, session, path, implementations.get(path)), *handler[1:])
        for path, handler in METHODS.items()
    }


async def _serve(
    session: "Session", path: str, implementation: Implementation | None, stream: Stream[Any, Any]
) -> None:
    if METHODS[path].cardinality.server_streaming:  # may last as long as the machine does
        return await _handle(session, path, implementation, stream)
    with session.api_port.answering():
        return await _handle(session, path, implementation, stream)


async def _handle(
    session: "Session", path: str, implementation: Implementation | None, stream: Stream[Any, Any]
) -> None:
    machine = session.machine
    lost = machine.world.faults.drops(machine.name)
    after = bool(machine.fault_value("drop", "answer"))
    code = Status.OK.name
    extra: dict[str, object] = {"lost": True} if lost else {}
    if session.configured and stream.metadata and (nodes := _relayed(stream.metadata)):
        extra["relayed"] = nodes
    try:
        if lost and not after:
            return _cut(stream)
        await machine.world.clock.sleep(machine.fault_value("delay", "seconds"))
        await _answer(session, path, implementation, stream)
        if lost:
            _cut(stream)
    except GRPCError as error:
        code = error.status.name
        raise
    except Exception:
        code = Status.INTERNAL.name
        raise
    finally:
        machine.record("call", method=path.rpartition("/")[2], code=code, **extra)
    return None


async def _answer(
    session: "Session", path: str, implementation: Implementation | None, stream: Stream[Any, Any]
) -> None:
    roles = _roles(session, stream)
    chunks = tuple([chunk async for chunk in stream])
    if not chunks:
        raise GRPCError(Status.INTERNAL, "the call ended before its request")
    metadata = stream.metadata
    assert metadata is not None  # noqa: S101 - grpclib sets it before it calls a handler
    nodes = relay.targets(path, metadata) if session.configured else None
    if nodes == (session.machine.hardware.address,) and session.api_port.relay is None:
        nodes = None  # a machine that passes nothing on still answers for itself
    if nodes:
        return await _relay(session, path, nodes, "nodes" in metadata, chunks[0], roles, stream)
    if not may_call(path, roles):
        raise GRPCError(Status.PERMISSION_DENIED, "not authorized")
    if path.startswith(_NEWER) and releases.minor(session.entry.version) < releases.LIFECYCLE_SERVICE:
        raise GRPCError(Status.UNIMPLEMENTED, f"unknown service {path.split('/')[1]}")
    if implementation is None:
        raise GRPCError(Status.UNIMPLEMENTED, f"method {path.rpartition('/')[2]} is not simulated")
    result = implementation(Call(session, chunks[0], roles, chunks))
    if inspect.isawaitable(result):
        return await stream.send_message(await result)
    async for message in result:
        await stream.send_message(message)
    return None


async def _relay(
    session: "Session",
    path: str,
    nodes: tuple[str, ...],
    many: bool,
    request: Message,
    roles: frozenset[str],
    stream: Stream[Any, Any],
) -> None:
    handler = METHODS[path]
    assert stream.metadata is not None  # noqa: S101 - as above
    if session.api_port.relay is None:
        raise GRPCError(Status.PERMISSION_DENIED, "no request forwarding")
    if many and not handler.cardinality.server_streaming:
        answer = await session.api_port.relay.gather(nodes, path, handler, request, stream.metadata, roles)
        return await stream.send_message(answer)
    for node in nodes:
        try:
            async for message in session.api_port.relay.forward(node, path, handler, request, stream.metadata, roles):
                await stream.send_message(relay.mark(message, node) if many else message)
        except GRPCError as error:
            if not many:
                raise
            await stream.send_message(relay.failed(handler.reply_type(), node, error))
    return None


def _roles(session: "Session", stream: Stream[Any, Any]) -> frozenset[str]:
    if not session.configured:
        return frozenset({READER})
    subject = (stream.peer.cert() or {}).get("subject", ()) if stream.peer else ()
    own = frozenset(value for part in subject for key, value in part if key == "organizationName") & KNOWN
    if IMPERSONATOR in own and stream.metadata and ROLE_METADATA in stream.metadata:
        return frozenset(str(role) for role in stream.metadata.getall(ROLE_METADATA)) & KNOWN
    return own


def _relayed(metadata: Any) -> list[str]:
    return (
        [] if "proxyfrom" in metadata else [str(node) for key in ("node", "nodes") for node in metadata.getall(key, [])]
    )


def _cut(stream: Stream[Any, Any]) -> None:
    stream._stream._transport.abort()
