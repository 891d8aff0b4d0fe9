"""The provider as the engine sees it."""

import asyncio
from collections.abc import Coroutine, Mapping
from functools import partial
from typing import Any, TypeVar

from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.provider import (
    CheckFailure,
    CheckRequest,
    CheckResponse,
    ConfigureRequest,
    ConfigureResponse,
    CreateRequest,
    CreateResponse,
    DeleteRequest,
    DiffRequest,
    DiffResponse,
    PropertyDiff,
    PropertyDiffKind,
    Provider,
    ReadRequest,
    ReadResponse,
    UpdateRequest,
    UpdateResponse,
)

from provider import release
from provider.engine import Engine
from provider.refused import Refused
from provider.release import Release
from provider.values import plain

T = TypeVar("T")
_CREDENTIALS = ("ca", "crt", "key")


class Plugin(Provider):
    """Owns the identity that machines are called with: its configuration, so that it is in the state once.

    Machines are asked by create, update and read. A preview compares with the state, and asks none.
    """

    def __init__(self, engine: Engine) -> None:
        """Serve without an identity until it is configured."""
        self._engine = engine
        self._credentials: dict[str, str] = {}
        self._under_way: set[asyncio.Task[Any]] = set()

    async def check_config(self, request: CheckRequest) -> CheckResponse:
        """Take what the program gives."""
        return CheckResponse(request.new_inputs, [])

    async def diff_config(self, request: DiffRequest) -> DiffResponse:
        """Another identity changes no machine."""
        return DiffResponse(changes=dict(request.old_state) != dict(request.new_inputs))

    async def configure(self, request: ConfigureRequest) -> ConfigureResponse:
        """Take the identity."""
        given = plain(request.args)
        self._credentials = {name: given[name] for name in _CREDENTIALS if isinstance(given.get(name), str)}
        return ConfigureResponse(supports_preview=True)

    async def check(self, request: CheckRequest) -> CheckResponse:
        """Refuse inputs that no machine could be given."""
        failures = [CheckFailure(*found) for found in release.failures(plain(request.new_inputs))]
        return CheckResponse(request.new_inputs, failures)

    async def diff(self, request: DiffRequest) -> DiffResponse:
        """Say what changes, from what is on record or was seen; refuse a step that Talos does not take."""
        state, inputs = plain(request.old_state), plain(request.new_inputs)
        if release.is_new(state):
            kinds = {"stage": PropertyDiff(PropertyDiffKind.DELETE_REPLACE, input_diff=False)}
            return DiffResponse(changes=True, replaces=["stage"], diffs=["stage"], detailed_diff=kinds)
        found = release.changed(state, inputs)
        if found and (why := release.path_refusal(state, inputs)):
            raise Refused(f"{inputs['node']}: cannot be given {inputs['version']}: {why}")
        kinds = {name: PropertyDiff(PropertyDiffKind.UPDATE, input_diff=False) for name in found}
        return DiffResponse(changes=bool(found), diffs=found, detailed_diff=kinds)

    async def create(self, request: CreateRequest) -> CreateResponse:
        """Adopt what runs where it is what is wanted; otherwise bring the machine there."""
        inputs = plain(request.properties)
        if request.preview:
            return CreateResponse(None, dict(request.properties))
        await self._bring(request.urn, inputs, adopt=True)
        return CreateResponse(str(inputs["node"]), dict(request.properties))

    async def update(self, request: UpdateRequest) -> UpdateResponse:
        """Bring the machine to what is wanted, from wherever it is."""
        if not request.preview:
            await self._bring(request.urn, plain(request.news), adopt=False)
        return UpdateResponse(dict(request.news))

    async def read(self, request: ReadRequest) -> ReadResponse:
        """Say what the machine runs. One that does not say so is unknown, and keeps what is on record."""
        from provider.reading import seen  # what asks machines is loaded when one is asked: a preview asks none

        state = plain(request.properties)
        found = await self._interruptible(seen(release.Machine(state["node"], state["address"]), self._identity()))
        kept = {name: value for name, value in request.properties.items() if name != "stage" or not found}
        properties = {**kept, **{name: PropertyValue(value) for name, value in found.items()}}
        return ReadResponse(request.resource_id, properties, dict(request.inputs))

    async def delete(self, request: DeleteRequest) -> None:
        """Leave the machine as it is: it ends in other ways."""

    async def cancel(self) -> None:
        """Stop what is under way: the engine was interrupted. The next run goes on where the machine is then."""
        for task in self._under_way:
            task.cancel()

    async def _bring(self, urn: str, inputs: Mapping[str, Any], *, adopt: bool) -> None:
        from provider.upgrade import bring

        report = partial(self._engine.say, urn)
        await self._interruptible(bring(Release.of(inputs), self._identity(), report, adopt=adopt))

    def _identity(self) -> Any:
        from talosapi import Credentials

        missing = [name for name in _CREDENTIALS if name not in self._credentials]
        if missing:
            raise Refused(f"the provider's configuration lacks {', '.join(missing)}")
        return Credentials(**{name: value.encode() for name, value in self._credentials.items()})

    async def _interruptible(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        try:
            return await task
        finally:
            self._under_way.discard(task)
