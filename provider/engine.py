"""Lines of progress to the engine, which shows them beside the resource."""

import asyncio
import contextlib

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc


class Engine:
    """The engine that this plugin serves. It may be gone: that is no reason to fail."""

    def __init__(self, address: str) -> None:
        """Connect with the first line."""
        self._address = address
        self._stub: engine_pb2_grpc.EngineStub | None = None
        self._pending: set[asyncio.Task[None]] = set()

    def say(self, urn: str, line: str) -> None:
        """Send a line without waiting for it."""
        task = asyncio.ensure_future(self._log(urn, line))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def _log(self, urn: str, line: str) -> None:
        if self._stub is None:
            self._stub = engine_pb2_grpc.EngineStub(grpc.aio.insecure_channel(self._address))
        request = engine_pb2.LogRequest(severity=engine_pb2.INFO, message=line, urn=urn)
        with contextlib.suppress(grpc.RpcError):
            await self._stub.Log(request, timeout=5)  # type: ignore[misc]  # the stub is typed for blocking calls
