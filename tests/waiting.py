"""Waiting for a condition, never for a time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(condition: Callable[[], T], *, within: float = 30.0, what: str = "the condition") -> T:
    """Poll ``condition`` until it returns something true and return that; fail after ``within`` seconds."""
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come true within {within} s")
        time.sleep(0.02)
