"""Runs a provider as a plugin process: a port on stdout, then calls until the engine is done with it."""

import asyncio
import contextlib
import os
import signal
import sys

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2_grpc

from lab.standin.resource import Provider
from lab.standin.servicer import Servicer

#: Patches, configurations and schemas are text; the engine's own limit is 400 MiB.
_OPTIONS = [("grpc.max_receive_message_length", 400 << 20), ("grpc.max_send_message_length", 400 << 20)]
_ORPHAN_CHECK = 1.0  # seconds between two looks at whether the engine still lives


class EngineLog:
    """Warnings to the engine, which shows them beside the resource."""

    def __init__(self, address: str | None) -> None:
        """Connect lazily to ``address``; without one, nothing is said."""
        self._address = address
        self._stub: engine_pb2_grpc.EngineStub | None = None

    async def __call__(self, urn: str, message: str) -> None:
        """Send one warning; an engine that is gone is no reason to fail."""
        if not self._address:
            return
        if self._stub is None:
            self._stub = engine_pb2_grpc.EngineStub(grpc.aio.insecure_channel(self._address))
        request = engine_pb2.LogRequest(severity=engine_pb2.WARNING, message=message, urn=urn)
        with contextlib.suppress(grpc.RpcError):
            await self._stub.Log(request, timeout=5)  # type: ignore[misc]


async def _serve(provider: Provider, engine: str | None) -> None:
    parent = os.getppid()  # before the port is told: from then on the engine may die
    server = grpc.aio.server(options=_OPTIONS)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(provider, EngineLog(engine)), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, done.set)
    print(port, flush=True)  # noqa: T201 - the plugin protocol
    orphaned = asyncio.create_task(_orphaned(parent, done))
    await done.wait()
    orphaned.cancel()
    await server.stop(grace=0.2)


async def _orphaned(parent: int, done: asyncio.Event) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(_ORPHAN_CHECK)
    done.set()


def main(provider: Provider) -> None:
    """Serve ``provider`` until a signal, or until the process that started this one is gone."""
    addresses = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(provider, addresses[-1] if addresses else None))
