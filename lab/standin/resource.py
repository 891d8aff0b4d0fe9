"""What a stand-in for one resource or one function has to say: the base classes and the errors.

The shape follows how the real, bridged providers work: everything is decided by a *plan*, the state that the resource
would have, with ``UNKNOWN`` for what is known afterwards. Preview, difference, creation and update all use it.
"""

import contextvars
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from lab.standin.schema import Failure, FunctionSchema, Property, ResourceSchema
from lab.standin.values import Properties, Value


class ProviderError(Exception):
    """The call fails with this sentence; it holds no secret."""


class InvokeError(Exception):
    """An invoke is answered with failures of its arguments."""

    def __init__(self, failures: list[Failure]) -> None:
        """Carry what is wrong."""
        super().__init__("; ".join(failure.reason for failure in failures))
        self.failures = failures


Warn = Callable[[str], Awaitable[None]]
_warn: contextvars.ContextVar[Warn | None] = contextvars.ContextVar("warn", default=None)


def warn_with(warn: Warn) -> None:
    """Set where the warnings of the call that is running now go."""
    _warn.set(warn)


async def warn(message: str) -> None:
    """Give the user a warning about the resource that is being worked on; outside a call it is dropped."""
    sink = _warn.get()
    if sink is not None:
        await sink(message)


class Resource:
    """One kind of resource. Subclasses plan, and do; the base answers what most of them answer alike."""

    schema: ResourceSchema
    #: Changes of these properties need another resource, not an update.
    replaced_by: frozenset[str] = frozenset()

    def check(self, name: str, inputs: Properties) -> list[Failure]:
        """Return what is wrong with inputs that fit the schema; raise ``ProviderError`` where the real one fails."""
        return []

    async def plan(self, state: Properties | None, inputs: Properties) -> Properties:
        """Return the state that ``inputs`` lead to from ``state`` (``None``: from nothing)."""
        raise NotImplementedError

    def replacements(self, state: Properties, planned: Properties, changed: list[str]) -> list[str]:
        """Return those of the ``changed`` properties that need a replacement."""
        return [name for name in changed if name in self.replaced_by]

    async def create(self, planned: Properties, inputs: Properties) -> tuple[str, Properties]:
        """Make it; return its id and state."""
        raise NotImplementedError

    async def read(self, identity: str, state: Properties) -> Properties | None:
        """Return the state as it is now; ``None`` when the thing is gone. The base does not look."""
        return state

    async def adopt(self, identity: str) -> tuple[str, Properties]:
        """Import what exists under ``identity``."""
        raise ProviderError(f"{self.schema.token} does not support import")

    async def update(self, identity: str, state: Properties, planned: Properties, inputs: Properties) -> Properties:
        """Change it; return the new state."""
        raise NotImplementedError

    async def delete(self, identity: str, state: Properties) -> None:
        """Take it away; many real ones do nothing here."""


class Function:
    """One invoke."""

    schema: FunctionSchema

    async def call(self, args: Properties) -> Properties:
        """Answer; raise ``InvokeError`` for faulty arguments and ``ProviderError`` for what went wrong."""
        raise NotImplementedError


class Provider:
    """A package: its configuration, resources and functions."""

    name: str
    version: str
    configuration: Mapping[str, Property]
    resources: Mapping[str, Resource]
    functions: Mapping[str, Function]

    def check_configuration(self, given: Properties) -> list[Failure]:
        """Return what is wrong with a configuration that fits the schema."""
        return []

    async def configure(self, given: Properties) -> None:
        """Take the configuration; raise ``ProviderError`` when nothing can be done with it."""


def by_token(*parts: Any) -> dict[str, Any]:
    """Index resources or functions by the token of their schema."""
    return {part.schema.token: part for part in parts}


def get(value: Value, *path: str | int, default: Value = None) -> Value:
    """Walk into objects and lists; ``default`` where a step is missing or null."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return default
    return default if value is None else value
