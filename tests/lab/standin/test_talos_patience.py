"""How long the stand-in tries, and what an interrupt does to a call that is under way."""

import asyncio

import pytest

from lab.standin.resource import ProviderError
from lab.standin.talos import connect
from talosapi import TalosError
from talosapi.errors import Code


async def test_an_interrupt_lets_a_call_that_is_under_way_come_to_its_end() -> None:
    began, ends = asyncio.Event(), asyncio.Event()

    async def call() -> str:
        began.set()
        await ends.wait()
        return "applied"

    task = asyncio.create_task(connect.persistently(call, 60, "Error"))
    await began.wait()
    task.cancel()
    await asyncio.sleep(0)
    ends.set()
    assert await task == "applied"


async def test_an_interrupt_ends_the_tries_after_a_call_that_failed() -> None:
    began, ends = asyncio.Event(), asyncio.Event()

    async def call() -> str:
        began.set()
        await ends.wait()
        raise TalosError("cp-1", Code.UNAVAILABLE, "it reboots")

    task = asyncio.create_task(connect.persistently(call, 60, "Error"))
    await began.wait()
    task.cancel()
    await asyncio.sleep(0)
    ends.set()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("hangs", [True, False])
async def test_the_timeout_of_the_resource_ends_the_tries(hangs: bool) -> None:
    async def call() -> str:
        if hangs:
            await asyncio.Event().wait()
        raise TalosError("cp-1", Code.UNKNOWN, "no space left on device")

    said = "no answer" if hangs else "cp-1: no space left on device"
    seconds = connect.timeout_of({"timeouts": {"update": "300ms"}}, "update")
    with pytest.raises(ProviderError, match=rf"Error: {said}.*\(gave up after 0.3 s\)"):
        await connect.persistently(call, seconds, "Error")
