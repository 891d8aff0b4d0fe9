"""One call of the engine, and how it ends when it fails."""

import asyncio
import traceback
from typing import Any, NoReturn

import grpc

from lab.standin.resource import ProviderError

Context = grpc.aio.ServicerContext[Any, Any]


class Call:
    """One call under way: it can be cancelled, and its exception becomes the status that the engine shows."""

    def __init__(self, context: Context, running: set[asyncio.Task[Any]]) -> None:
        """Enter into ``running`` while it lasts; ``context`` takes the failure."""
        self._context = context
        self._running = running
        self._task = asyncio.current_task()

    async def __aenter__(self) -> None:
        """Note the call as under way."""
        if self._task is not None:
            self._running.add(self._task)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        """End it; an error that nobody foresaw is named by kind and place."""
        if self._task is not None:
            self._running.discard(self._task)
        if isinstance(error, asyncio.CancelledError):
            await self._abort(grpc.StatusCode.CANCELLED, "the run was interrupted")
        if isinstance(error, ProviderError):
            await self._abort(grpc.StatusCode.UNKNOWN, str(error))
        if isinstance(error, Exception) and not isinstance(error, grpc.aio.AbortError):
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"
            await self._abort(grpc.StatusCode.INTERNAL, f"the stand-in failed: {type(error).__name__} at {place}")

    async def _abort(self, code: grpc.StatusCode, message: str) -> NoReturn:
        await self._context.abort(code, message)
        raise AssertionError("abort returned")


def urn_type(urn: str) -> str:
    """Return the type in a resource's URN, without those of its parents."""
    return urn.split("::")[2].rsplit("$", 1)[-1]


def urn_name(urn: str) -> str:
    """Return the name in a resource's URN."""
    return urn.split("::", 3)[3]
