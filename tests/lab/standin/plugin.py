"""A stand-in served over gRPC as the engine would call it, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2 as proto
from pulumi.runtime.proto import provider_pb2_grpc

from lab.standin.resource import Provider
from lab.standin.servicer import Servicer
from lab.standin.values import decode, encode

CheckAnswer = tuple[dict[str, Any], list[tuple[str, str]]]


class Plugin:
    """Calls with plain values in and out; a call that fails raises ``grpc.aio.AioRpcError``."""

    def __init__(self, stub: Any, warnings: list[str]) -> None:
        self.stub = stub
        self.warnings = warnings

    async def configure(self, **given: Any) -> None:
        await self.stub.Configure(proto.ConfigureRequest(args=encode(given)))

    async def check_config(self, **given: Any) -> list[tuple[str, str]]:
        answer = await self.stub.CheckConfig(proto.CheckRequest(urn=urn("pulumi:providers:x"), news=encode(given)))
        return [(failure.property, failure.reason) for failure in answer.failures]

    async def check(self, token: str, news: dict[str, Any], name: str = "a") -> CheckAnswer:
        answer = await self.stub.Check(proto.CheckRequest(urn=urn(token, name), news=encode(news)))
        return decode(answer.inputs), [(failure.property, failure.reason) for failure in answer.failures]

    async def create(self, token: str, inputs: dict[str, Any], preview: bool = False) -> tuple[str, dict[str, Any]]:
        answer = await self.stub.Create(proto.CreateRequest(urn=urn(token), properties=encode(inputs), preview=preview))
        return answer.id, decode(answer.properties)

    async def diff(self, token: str, state: dict[str, Any], news: dict[str, Any]) -> proto.DiffResponse:
        request = proto.DiffRequest(id="x", urn=urn(token), olds=encode(state), news=encode(news))
        answer: proto.DiffResponse = await self.stub.Diff(request)
        return answer

    async def update(self, token: str, identity: str, state: dict[str, Any], news: dict[str, Any]) -> dict[str, Any]:
        request = proto.UpdateRequest(id=identity, urn=urn(token), olds=encode(state), news=encode(news))
        return decode((await self.stub.Update(request)).properties)

    async def read(self, token: str, identity: str, state: dict[str, Any]) -> proto.ReadResponse:
        request = proto.ReadRequest(id=identity, urn=urn(token), properties=encode(state), inputs=encode({}))
        answer: proto.ReadResponse = await self.stub.Read(request)
        return answer

    async def delete(self, token: str, identity: str, state: dict[str, Any]) -> None:
        await self.stub.Delete(proto.DeleteRequest(id=identity, urn=urn(token), properties=encode(state)))

    async def invoke(self, token: str, args: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        answer = await self.stub.Invoke(proto.InvokeRequest(tok=token, args=encode(args)))
        return decode(getattr(answer, "return")), [(failure.property, failure.reason) for failure in answer.failures]


@asynccontextmanager
async def served(provider: Provider) -> AsyncIterator[Plugin]:
    """Serve ``provider`` on a port of its own."""
    warnings: list[str] = []

    async def log(_urn: str, message: str) -> None:
        warnings.append(message)

    server = grpc.aio.server()
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(provider, log), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield Plugin(provider_pb2_grpc.ResourceProviderStub(channel), warnings)
    await server.stop(None)


def urn(token: str, name: str = "a") -> str:
    """Name a resource as the engine does."""
    return f"urn:pulumi:test::project::{token}::{name}"
