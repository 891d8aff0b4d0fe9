"""Relaying a call to other machines, as apid does for the metadata ``node`` and ``nodes``."""

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from google.protobuf.message import Message
from grpclib import GRPCError, Status
from grpclib.client import Channel
from grpclib.const import Handler
from grpclib.exceptions import StreamTerminatedError
from multidict import MultiDict

from lab.machine.listener import API_PORT
from lab.machine.roles import ROLE_METADATA

_OWN = ("node", "nodes", "proxyfrom", ROLE_METADATA)
_MANY = ("machine.MachineService", "cluster.ClusterService", "storage.StorageService")
_TIMEOUT = 30.0  # real seconds for the other machine to answer a call that is no stream


def targets(method: str, metadata: MultiDict[Any]) -> tuple[str, ...] | None:
    """The machines a call is for: one (``node``), several (``nodes``), or None for the one that was called."""
    if "proxyfrom" in metadata:
        return None
    if nodes := [str(node) for node in metadata.getall("nodes", [])]:
        if method.split("/")[1] not in _MANY:
            raise GRPCError(Status.INVALID_ARGUMENT, f"one-2-many proxying is not supported for method {method}")
        return tuple(nodes)
    single = [str(node) for node in metadata.getall("node", [])]
    if len(single) > 1:
        raise GRPCError(Status.INVALID_ARGUMENT, "node metadata must be single-valued")
    return tuple(single) or None


class Relay:
    """Calls other machines with this machine's own client certificate, on behalf of somebody's roles."""

    def __init__(self, context: ssl.SSLContext, address: str) -> None:
        """``address`` is this machine's own, for the other one to see where a call came from."""
        self._context = context
        self._address = address

    async def forward(
        self,
        target: str,
        method: str,
        handler: Handler,
        request: Message,
        metadata: MultiDict[Any],
        roles: Iterable[str],
    ) -> AsyncIterator[Message]:
        """Ask ``target`` and pass its answers on; raises GRPCError with its status, or Unavailable."""
        if not target or (":" in target and not _is_ipv6(target)):
            raise GRPCError(Status.INTERNAL, f"invalid target {target!r}")
        passed = MultiDict((key, value) for key, value in metadata.items() if key not in _OWN)
        passed.extend((ROLE_METADATA, role) for role in sorted(roles))
        passed.add("proxyfrom", self._address)
        channel = Channel(target, API_PORT, ssl=self._context)
        try:
            timeout = None if handler.cardinality.server_streaming else _TIMEOUT
            async with channel.request(
                method, handler.cardinality, handler.request_type, handler.reply_type, timeout=timeout, metadata=passed
            ) as stream:
                await stream.send_message(request, end=True)
                async for answer in stream:
                    yield answer
        except (OSError, StreamTerminatedError, TimeoutError) as error:
            reason = f"connection error: {target}:{API_PORT} does not answer ({type(error).__name__})"
            raise GRPCError(Status.UNAVAILABLE, reason) from error
        finally:
            channel.close()

    async def gather(
        self,
        nodes: Sequence[str],
        method: str,
        handler: Handler,
        request: Message,
        metadata: MultiDict[Any],
        roles: Iterable[str],
    ) -> Any:
        """Ask several machines one question; each answer says whose it is, a failure too."""

        async def one(target: str) -> Any:
            try:
                async for answer in self.forward(target, method, handler, request, metadata, roles):
                    return answer
                raise GRPCError(Status.UNKNOWN, "no answer")
            except GRPCError as error:
                return _failure(handler.reply_type(), error)

        together = handler.reply_type()
        for target, answer in zip(nodes, await asyncio.gather(*map(one, nodes)), strict=True):
            for message in answer.messages:
                message.metadata.hostname = target
            together.MergeFrom(answer)
        return together


def mark(message: Message, target: str) -> Message:
    """Say in one answer of a stream whose it is, where its type has a place for that."""
    if "metadata" in message.DESCRIPTOR.fields_by_name:
        message.metadata.hostname = target  # type: ignore[attr-defined]
    return message


def failed(reply: Message, target: str, error: GRPCError) -> Message:
    """One answer of a stream that says that a machine failed."""
    if "metadata" not in reply.DESCRIPTOR.fields_by_name:
        raise error
    _fill(reply.metadata, error)  # type: ignore[attr-defined]
    return mark(reply, target)


def _failure(reply: Any, error: GRPCError) -> Any:
    _fill(reply.messages.add().metadata, error)
    return reply


def _fill(metadata: Any, error: GRPCError) -> None:
    metadata.error = f"rpc error: code = {error.status.name.title().replace('_', '')} desc = {error.message}"
    metadata.status.code = error.status.value
    metadata.status.message = error.message or ""


def _is_ipv6(target: str) -> bool:
    try:
        return ipaddress.ip_address(target).version == 6
    except ValueError:
        return False
