"""The gRPC side: turns the engine's calls into calls of a :class:`~lab.standin.resource.Provider`.

Every failure becomes one sentence. An error that nobody foresaw names its kind and place, never its text, which could
hold a value.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from google.protobuf import empty_pb2
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc
from pulumi.runtime.proto import provider_pb2 as proto

from lab.standin.call import Call, Context, urn_name, urn_type
from lab.standin.configuration import plain_configuration
from lab.standin.difference import changed, difference
from lab.standin.resource import InvokeError, Provider, ProviderError, Resource, warn_with
from lab.standin.schema import Failure, check_properties, mark_secrets
from lab.standin.values import UNKNOWN, Properties, decode, encode, without_nulls

Log = Callable[[str, str], Awaitable[None]]
META = '{"schema_version":"1"}'


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """One provider, served."""

    def __init__(self, provider: Provider, log: Log) -> None:
        """Serve ``provider``; ``log`` takes a URN and a warning for the user."""
        self._provider = provider
        self._log = log
        self._running: set[asyncio.Task[Any]] = set()

    def _call(self, context: Context) -> Call:
        return Call(context, self._running)

    def _resource(self, urn: str) -> Resource:
        async def warn(message: str) -> None:
            await self._log(urn, message)

        warn_with(warn)
        token = urn_type(urn)
        resource = self._provider.resources.get(token)
        if resource is None:
            known = ", ".join(sorted(self._provider.resources))
            raise ProviderError(f"{token} is not simulated here; the lab knows {known}")
        return resource

    async def Check(self, request: proto.CheckRequest, context: Context) -> proto.CheckResponse:  # noqa: N802
        """Check a resource's inputs."""
        async with self._call(context):
            resource = self._resource(request.urn)
            inputs = without_nulls(decode(request.news))
            failures = check_properties(resource.schema.inputs, inputs)
            if not failures:
                failures = resource.check(urn_name(request.urn), inputs)
            return proto.CheckResponse(
                inputs=encode(mark_secrets(resource.schema.inputs, inputs)), failures=_failures(failures)
            )

    async def Diff(self, request: proto.DiffRequest, context: Context) -> proto.DiffResponse:  # noqa: N802
        """Say what would change."""
        async with self._call(context):
            resource = self._resource(request.urn)
            state, inputs = _state(request.olds), without_nulls(decode(request.news))
            planned = await resource.plan(state, inputs)
            return difference(state, planned, resource.replacements(state, planned, changed(state, planned)))

    async def Create(self, request: proto.CreateRequest, context: Context) -> proto.CreateResponse:  # noqa: N802
        """Make a resource, or say what it would be."""
        async with self._call(context):
            resource = self._resource(request.urn)
            inputs = without_nulls(decode(request.properties))
            planned = await resource.plan(None, inputs)
            if request.preview:
                return proto.CreateResponse(properties=_outputs(resource, {**planned, "id": UNKNOWN}))
            identity, state = await resource.create(planned, inputs)
            state = {**state, "id": state.get("id", identity), "__meta": META}
            return proto.CreateResponse(id=identity, properties=_outputs(resource, state))

    async def Read(self, request: proto.ReadRequest, context: Context) -> proto.ReadResponse:  # noqa: N802
        """Refresh a resource, or import one when no state is given."""
        async with self._call(context):
            resource = self._resource(request.urn)
            identity, before = request.id, _state(request.properties)
            state: Properties | None
            if before:
                state = await resource.read(identity, before)
                inputs = decode(request.inputs)
            else:
                identity, state = await resource.adopt(identity)
                inputs = {name: state[name] for name in resource.schema.inputs if state.get(name) is not None}
            if state is None:
                return proto.ReadResponse()
            state = {**state, "id": identity, "__meta": META}
            return proto.ReadResponse(
                id=identity,
                properties=_outputs(resource, state),
                inputs=encode(mark_secrets(resource.schema.inputs, inputs)),
            )

    async def Update(self, request: proto.UpdateRequest, context: Context) -> proto.UpdateResponse:  # noqa: N802
        """Change a resource, or say what it would become."""
        async with self._call(context):
            resource = self._resource(request.urn)
            state, inputs = _state(request.olds), without_nulls(decode(request.news))
            planned = await resource.plan(state, inputs)
            if not request.preview:
                planned = await resource.update(request.id, state, planned, inputs)
            planned = {**planned, "id": planned.get("id", request.id), "__meta": META}
            return proto.UpdateResponse(properties=_outputs(resource, planned))

    async def Delete(self, request: proto.DeleteRequest, context: Context) -> empty_pb2.Empty:  # noqa: N802
        """Take a resource away."""
        async with self._call(context):
            await self._resource(request.urn).delete(request.id, _state(request.properties))
            return empty_pb2.Empty()

    async def Invoke(self, request: proto.InvokeRequest, context: Context) -> proto.InvokeResponse:  # noqa: N802
        """Answer a function call."""
        async with self._call(context):
            function = self._provider.functions.get(request.tok)
            if function is None:
                raise ProviderError(f"{request.tok} is not simulated here")
            args = without_nulls(decode(request.args))
            failures = check_properties(function.schema.inputs, args)
            answer: Properties = {}
            if not failures:
                try:
                    answer = await function.call(args)
                except InvokeError as failed:
                    failures = failed.failures
            return proto.InvokeResponse(**{"return": encode(answer)}, failures=_failures(failures))

    async def CheckConfig(self, request: proto.CheckRequest, context: Context) -> proto.CheckResponse:  # noqa: N802
        """Check the provider's own configuration."""
        async with self._call(context):
            given = without_nulls(decode(request.news))
            plain = plain_configuration(self._provider.configuration, given)
            failures = check_properties(self._provider.configuration, plain)
            failures = failures or self._provider.check_configuration(plain)
            marked = mark_secrets(self._provider.configuration, given)
            return proto.CheckResponse(inputs=encode(marked), failures=_failures(failures))

    async def DiffConfig(self, request: proto.DiffRequest, context: Context) -> proto.DiffResponse:  # noqa: N802
        """A changed provider configuration never replaces resources here."""
        return difference(decode(request.olds), decode(request.news), ())

    async def Configure(  # noqa: N802
        self, request: proto.ConfigureRequest, context: Context
    ) -> proto.ConfigureResponse:
        """Take the configuration."""
        async with self._call(context):
            given = without_nulls(decode(request.args))
            await self._provider.configure(plain_configuration(self._provider.configuration, given))
            return proto.ConfigureResponse(supportsPreview=True)

    async def Handshake(  # noqa: N802
        self, request: proto.ProviderHandshakeRequest, context: Context
    ) -> proto.ProviderHandshakeResponse:
        """Agree on the protocol: plain values, no secrets, no references."""
        return proto.ProviderHandshakeResponse()

    async def GetPluginInfo(self, request: empty_pb2.Empty, context: Context) -> plugin_pb2.PluginInfo:  # noqa: N802
        """Give the version that the SDK asks for."""
        return plugin_pb2.PluginInfo(version=self._provider.version)

    async def GetSchema(  # noqa: N802
        self, request: proto.GetSchemaRequest, context: Context
    ) -> proto.GetSchemaResponse:
        """Give the name and version alone: the SDK holds the rest."""
        name, version = self._provider.name, self._provider.version
        return proto.GetSchemaResponse(schema=f'{{"name": "{name}", "version": "{version}"}}')

    async def Cancel(self, request: empty_pb2.Empty, context: Context) -> empty_pb2.Empty:  # noqa: N802
        """Stop what is under way: the engine was interrupted."""
        for task in self._running:
            task.cancel()
        return empty_pb2.Empty()


def _state(struct: Struct) -> Properties:
    return {name: value for name, value in decode(struct).items() if name != "__meta"}


def _outputs(resource: Resource, state: Properties) -> Struct:
    return encode(mark_secrets(resource.schema.outputs, state))


def _failures(failures: list[Failure]) -> list[proto.CheckFailure]:
    return [proto.CheckFailure(property=failure.property, reason=failure.reason) for failure in failures]
