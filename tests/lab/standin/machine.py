"""A machine for the Talos stand-in to talk to: real TLS, and answers that a test chooses."""

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from grpclib.server import Server

from talosapi.gen import common_pb2, machine_pb2, storage_pb2
from talosapi.gen.machine_grpc import MachineServiceBase
from talosapi.gen.storage_grpc import StorageServiceBase
from tests.talosapi.machines import archive, kubeconfig_text, server_context
from tests.talosapi.pki import Authority

Mode = machine_pb2.ApplyConfigurationRequest
Fail = Callable[[str, int], None]


@dataclass
class Machine:
    """A machine with a port; ``fail`` may raise at a call, told its name and how often it came."""

    authority: Authority = field(default_factory=Authority)
    port: int = 0
    mode: "machine_pb2.ApplyConfigurationRequest.Mode.ValueType" = Mode.NO_REBOOT
    fail: Fail = lambda call, times: None
    calls: list[str] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    nodes: list[str | None] = field(default_factory=list)

    def called(self, call: str, stream: Any, request: Any) -> None:
        self.calls.append(call)
        self.requests.append(request)
        self.nodes.append(stream.metadata.get("node"))
        self.fail(call, self.calls.count(call))

    def inputs(self, **changes: Any) -> dict[str, Any]:
        person = self.authority.client()
        parts = {"caCertificate": self.authority.pem, "clientCertificate": person.crt, "clientKey": person.key}
        identity = {name: base64.b64encode(pem).decode() for name, pem in parts.items()}
        address = {"node": "10.5.0.2", "endpoint": f"127.0.0.1:{self.port}"}
        return {**address, "clientConfiguration": identity, **changes}


class MachineService(MachineServiceBase):
    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    async def ApplyConfiguration(self, stream: Any) -> None:  # noqa: N802
        request = await stream.recv_message()
        self.machine.called("apply", stream, request)
        answer = machine_pb2.ApplyConfiguration(mode=self.machine.mode)
        await stream.send_message(machine_pb2.ApplyConfigurationResponse(messages=[answer]))

    async def Bootstrap(self, stream: Any) -> None:  # noqa: N802
        self.machine.called("bootstrap", stream, await stream.recv_message())
        await stream.send_message(machine_pb2.BootstrapResponse(messages=[machine_pb2.Bootstrap()]))

    async def Kubeconfig(self, stream: Any) -> None:  # noqa: N802
        self.machine.called("kubeconfig", stream, await stream.recv_message())
        text = kubeconfig_text(self.machine.authority.pem, self.machine.authority.client())
        await stream.send_message(common_pb2.Data(bytes=archive(text)))

    async def Reset(self, stream: Any) -> None:  # noqa: N802
        self.machine.called("reset", stream, await stream.recv_message())
        await stream.send_message(machine_pb2.ResetResponse(messages=[machine_pb2.Reset()]))

    async def Version(self, stream: Any) -> None:  # noqa: N802
        self.machine.called("version", stream, await stream.recv_message())
        await stream.send_message(machine_pb2.VersionResponse(messages=[machine_pb2.Version()]))


class StorageService(StorageServiceBase):
    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    async def Disks(self, stream: Any) -> None:  # noqa: N802
        self.machine.called("disks", stream, await stream.recv_message())
        await stream.send_message(storage_pb2.DisksResponse(messages=[storage_pb2.Disks()]))


MachineService.__abstractmethods__ = frozenset()  # the other calls are not made
StorageService.__abstractmethods__ = frozenset()


@asynccontextmanager
async def running(machine: Machine, configured: bool) -> AsyncIterator[Machine]:
    authority = machine.authority if configured else None
    server = Server([MachineService(machine), StorageService(machine)])  # type: ignore[abstract]
    pair = machine.authority.server("127.0.0.1") if configured else Authority("maintenance").server("127.0.0.1")
    await server.start("127.0.0.1", 0, ssl=server_context(authority, pair))
    machine.port = server._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    try:
        yield machine
    finally:
        server.close()
        await server.wait_closed()
