"""A machine that goes down lets its answers go out first, however slow the computer is that simulates it."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from lab.machine.api_port import ApiPort


async def test_a_port_is_closed_only_when_the_calls_under_way_are_answered() -> None:
    port = ApiPort(cast(Any, SimpleNamespace()))
    with port.answering():
        with port.answering():
            closing = asyncio.create_task(port.close_after_answers())
        for _ in range(100):
            await asyncio.sleep(0)
        assert not closing.done()
    await closing
