"""Runs the provider as a plugin process: a port on stdout, then calls until the engine is done with it."""

import asyncio
import os
import signal
from collections.abc import Awaitable
from typing import Any, TypeVar

import grpc
from pulumi.provider.experimental.provider import Provider
from pulumi.provider.experimental.server import ProviderServicer
from pulumi.runtime.proto import provider_pb2_grpc

from provider.refused import Refused

T = TypeVar("T")
_ORPHAN_CHECK = 1.0  # seconds between two looks at whether the engine still lives


class Servicer(ProviderServicer):
    """The SDK's servicer, except that errors are sentences, without a traceback of this process."""

    async def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Take the configuration."""
        return await _told(super().Configure(request, context), context)

    async def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Check inputs."""
        return await _told(super().Check(request, context), context)

    async def Diff(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Compare a state with inputs."""
        return await _told(super().Diff(request, context), context)

    async def Create(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Make what is wanted."""
        return await _told(super().Create(request, context), context)

    async def Update(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Change what is there to what is wanted."""
        return await _told(super().Update(request, context), context)

    async def Read(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Look what is there."""
        return await _told(super().Read(request, context), context)

    async def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802
        """End it."""
        return await _told(super().Delete(request, context), context)


async def _told(answer: Awaitable[T], context: Any) -> T:
    try:
        return await answer
    except asyncio.CancelledError:
        await context.abort(grpc.StatusCode.CANCELLED, "the run was interrupted; the same command again goes on")
        raise
    except Exception as error:
        # The SDK's servicer wraps every exception in one whose text is a traceback.
        cause = error.__context__ or error
        if not isinstance(cause, Refused):
            raise
        await context.abort(grpc.StatusCode.UNKNOWN, str(cause))
        raise


async def _serve(provider: Provider, address: str) -> None:
    parent = os.getppid()  # before the port is told: from then on the engine may die
    server = grpc.aio.server()
    servicer = Servicer([], "", provider, address)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    over = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    print(port, flush=True)  # noqa: T201 - the plugin protocol
    # A killed engine ends nobody: two runs must not upgrade the same machine.
    orphaned = asyncio.create_task(_orphaned(parent, over))
    await over.wait()
    orphaned.cancel()
    await provider.cancel()
    await server.stop(grace=0.5)


async def _orphaned(parent: int, over: asyncio.Event) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(_ORPHAN_CHECK)
    over.set()


def serve(provider: Provider, address: str) -> None:
    """Serve until a signal, or until the engine is gone; ``address`` is the engine's."""
    asyncio.run(_serve(provider, address))
