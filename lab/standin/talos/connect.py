"""Calls to machines with the provider's habits: which TLS it tries first, and how long it tries again.

For every call of most resources the real provider connects without a client certificate, asks for the disks, and only
when that fails connects with the certificate. Any error but InvalidArgument is tried again until the time is over.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from lab.standin.resource import ProviderError, get
from lab.standin.values import Properties
from machinery.goform import duration
from talosapi import Client, Credentials, TalosError
from talosapi.errors import Code, CredentialsError

T = TypeVar("T")
Operation = Callable[[Client], Awaitable[T]]

DEFAULT_TIMEOUT = 600.0  # seconds
_PORT = 50000
_FIRST_WAIT, _SHORTEST_WAIT, _LONGEST_WAIT = 0.1, 0.5, 10.0  # seconds


def timeout_of(properties: Properties, operation: str) -> float:
    """Return ``timeouts.create`` and the like in seconds; ten minutes when not given."""
    text = get(properties, "timeouts", operation)
    if text is None:
        return DEFAULT_TIMEOUT
    nanoseconds = duration(text)
    if nanoseconds is None:
        raise ProviderError(f"timeouts.{operation}: {text} is not a duration such as 90s or 10m")
    return nanoseconds / 1e9


async def either_way(properties: Properties, credentials: Credentials, operation: Operation[T]) -> T:
    """Make a call in maintenance mode if the machine is in it, else as the administrator; raises ``TalosError``."""
    async with _client(properties, None) as client:
        if await _answers(client):
            return await operation(client)
    return await as_administrator(properties, credentials, operation)


async def as_administrator(properties: Properties, credentials: Credentials, operation: Operation[T]) -> T:
    """Make a call with the client certificate; raises ``TalosError``."""
    async with _client(properties, credentials) as client:
        return await operation(client)


async def _answers(client: Client) -> bool:
    try:
        await client.disks()
    except TalosError:
        return False
    return True


def _client(properties: Properties, credentials: Credentials | None) -> Client:
    endpoint, node = properties.get("endpoint") or properties["node"], properties["node"]
    host, _, port = endpoint.partition(":") if endpoint.count(":") == 1 else (endpoint, "", "")
    try:
        return Client(host, credentials, port=int(port or _PORT), relay_to=node)
    except CredentialsError as error:
        raise ProviderError(f"the client configuration cannot be used: {error}") from error


async def persistently(attempt: Callable[[], Awaitable[T]], seconds: float, what: str) -> T:
    """Try until it works or ``seconds`` are over; raises ``ProviderError`` with the last error of the machine.

    An interrupt lets a call that is under way come to its end, because the machine may have carried it out.
    """
    last: TalosError | None = None
    wait = _FIRST_WAIT
    try:
        async with asyncio.timeout(seconds) as limit:
            while True:
                try:
                    return await _to_its_end(attempt, limit)
                except TalosError as error:
                    last = error
                    if error.code is Code.INVALID_ARGUMENT:
                        raise ProviderError(f"{what}: {error}") from error
                await asyncio.sleep(max(wait, _SHORTEST_WAIT))
                wait = min(wait * 2, _LONGEST_WAIT)
    except TimeoutError:
        raise ProviderError(f"{what}: {last or 'no answer'} (gave up after {seconds:g} s)") from None


async def _to_its_end(attempt: Callable[[], Awaitable[T]], limit: asyncio.Timeout) -> T:
    task = asyncio.ensure_future(attempt())
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if limit.expired():
            task.cancel()
            raise
        with contextlib.suppress(TalosError):
            return await task
        raise
