# ruff: noqa: N802 - the names of the calls are the API's
"""Machines in this process, over real TLS on loopback addresses, that say whatever a test sets."""

from __future__ import annotations

import asyncio
import base64
import io
import ssl
import tarfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import yaml
from grpclib.const import Handler, Status
from grpclib.exceptions import GRPCError
from grpclib.server import Server

from talosapi import Credentials, tls
from talosapi.fleet import Ports
from talosapi.gen import common_pb2, cosi_pb2, machine_pb2, resources_pb2
from talosapi.gen.cosi_grpc import StateBase
from talosapi.gen.machine_grpc import MachineServiceBase
from tests.talosapi.pki import Authority, Pair


@dataclass
class Etcd:
    """The members as everybody sees them: id to (host name, learner)."""

    members: dict[int, tuple[str, bool]] = field(default_factory=dict)


@dataclass
class FakeMachine:
    """What one machine says. ``before`` runs at every call with its name and may change, hang or raise."""

    name: str
    address: str
    etcd: Etcd
    member_id: int
    stage: int = resources_pb2.MACHINE_STAGE_RUNNING
    services: dict[str, tuple[str, bool]] = field(
        default_factory=lambda: {"etcd": ("Running", True), "kubelet": ("Running", True)}
    )
    readyz: int = 200
    synced: bool = True
    etcd_data: bool = False
    boot_id: str = "first"
    kubeconfig: bytes = b""
    configuration: bytes = b""
    before: Callable[[str], Any] = lambda call: None
    calls: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    applied: list[machine_pb2.ApplyConfigurationRequest] = field(default_factory=list)


class _Machine(MachineServiceBase):
    def __init__(self, machine: FakeMachine) -> None:
        self._machine = machine

    async def Version(self, stream: Any) -> None:
        await stream.recv_message()
        version = machine_pb2.Version(
            version=machine_pb2.VersionInfo(tag="v1.13.9", arch="amd64"),
            platform=machine_pb2.PlatformInfo(name="metal"),
        )
        await stream.send_message(machine_pb2.VersionResponse(messages=[version]))

    async def Hostname(self, stream: Any) -> None:
        await stream.recv_message()
        part = machine_pb2.Hostname(hostname=self._machine.name)
        if self._machine.metadata.get("node") == "gone":
            status = common_pb2.Status(code=Status.UNAVAILABLE.value)
            part = machine_pb2.Hostname(metadata=common_pb2.Metadata(error="no such host", status=status))
        await stream.send_message(machine_pb2.HostnameResponse(messages=[part]))

    async def ServiceList(self, stream: Any) -> None:
        await stream.recv_message()
        services = [
            machine_pb2.ServiceInfo(
                id=name, state=state, health=machine_pb2.ServiceHealth(healthy=healthy, last_message="so it says")
            )
            for name, (state, healthy) in self._machine.services.items()
        ]
        await stream.send_message(
            machine_pb2.ServiceListResponse(messages=[machine_pb2.ServiceList(services=services)])
        )

    async def EtcdStatus(self, stream: Any) -> None:
        await stream.recv_message()
        leader = next((id for id, (_, learner) in self._machine.etcd.members.items() if not learner), 0)
        status = machine_pb2.EtcdMemberStatus(member_id=self._machine.member_id, leader=leader)
        await stream.send_message(
            machine_pb2.EtcdStatusResponse(messages=[machine_pb2.EtcdStatus(member_status=status)])
        )

    async def Read(self, stream: Any) -> None:
        files = {
            "/proc/sys/kernel/random/boot_id": f"{self._machine.boot_id}\n",
            "/proc/stat": "cpu 0 0\nbtime 1000000000\n",
            "/proc/uptime": "60.5 1.0\n",
        } | ({"/var/lib/etcd/member/snap/db": "data"} if self._machine.etcd_data else {})
        path = (await stream.recv_message()).path
        if path not in files:
            raise GRPCError(Status.UNKNOWN, f"stat {path}: no such file or directory")
        await stream.send_message(common_pb2.Data(bytes=files[path].encode()))

    async def EtcdMemberList(self, stream: Any) -> None:
        await stream.recv_message()
        members = [
            machine_pb2.EtcdMember(
                id=id, hostname=name, is_learner=learner, peer_urls=[f"https://127.7.0.{id & 0xF}:2380"]
            )
            for id, (name, learner) in self._machine.etcd.members.items()
        ]
        await stream.send_message(
            machine_pb2.EtcdMemberListResponse(messages=[machine_pb2.EtcdMembers(members=members)])
        )

    async def Kubeconfig(self, stream: Any) -> None:
        await stream.recv_message()
        half = len(self._machine.kubeconfig) // 2
        for chunk in (self._machine.kubeconfig[:half], self._machine.kubeconfig[half:]):
            await stream.send_message(common_pb2.Data(bytes=chunk))

    async def ApplyConfiguration(self, stream: Any) -> None:
        request = await stream.recv_message()
        self._machine.applied.append(request)
        answer = machine_pb2.ApplyConfiguration(mode=request.mode, mode_details="applied", warnings=["mind this"])
        await stream.send_message(machine_pb2.ApplyConfigurationResponse(messages=[answer]))

    async def Bootstrap(self, stream: Any) -> None:
        raise GRPCError(Status.ALREADY_EXISTS, "etcd data directory is not empty")

    async def Reboot(self, stream: Any) -> None:
        await stream.cancel()

    async def Reset(self, stream: Any) -> None:
        await stream.recv_message()
        await stream.send_message(machine_pb2.ResetResponse())

    async def EtcdSnapshot(self, stream: Any) -> None:
        await stream.recv_message()
        await stream.send_message(common_pb2.Data(bytes=b"first"))
        raise GRPCError(Status.UNAVAILABLE, "etcd stopped")


_Machine.__abstractmethods__ = frozenset()  # the other calls fail, as they should here


class _State(StateBase):
    def __init__(self, machine: FakeMachine) -> None:
        self._machine = machine

    async def Get(self, stream: Any) -> None:
        request = await stream.recv_message()
        spec: Any = resources_pb2.MachineStatusSpec(stage=self._machine.stage)  # type: ignore[arg-type]  # any number
        if (request.namespace, request.type, request.id) == ("config", "MachineConfigs.config.talos.dev", "v1alpha1"):
            if not self._machine.configuration:
                raise GRPCError(Status.NOT_FOUND, "resource doesn't exist")
            spec = resources_pb2.MachineConfigSpec(yaml_marshalled=self._machine.configuration)
        if request.type == "TimeStatuses.v1alpha1.talos.dev":
            spec = resources_pb2.TimeStatusSpec(synced=self._machine.synced)
        await stream.send_message(
            cosi_pb2.GetResponse(resource=cosi_pb2.Resource(spec=cosi_pb2.Spec(proto_spec=spec.SerializeToString())))
        )


_State.__abstractmethods__ = frozenset()


class _Watched:
    """A service whose calls are written down first."""

    def __init__(self, machine: FakeMachine, service: Any) -> None:
        self._machine = machine
        self._service = service

    def __mapping__(self) -> dict[str, Handler]:
        return {path: self._watch(path, handler) for path, handler in self._service.__mapping__().items()}

    def _watch(self, path: str, handler: Handler) -> Handler:
        async def watched(stream: Any) -> None:
            call = path.rpartition("/")[2]
            self._machine.calls.append(call)
            self._machine.metadata = dict(stream.metadata)
            waiting = self._machine.before(call)
            if waiting is not None:
                await waiting
            await handler.func(stream)

        return handler._replace(func=watched)


@dataclass
class FakeCluster:
    """Machines under one CA, and what a caller needs to reach them."""

    authority: Authority
    credentials: Credentials
    etcd: Etcd
    machines: list[FakeMachine]
    ports: Ports


@asynccontextmanager
async def cluster(size: int = 3, *, network: str = "127.7.0") -> AsyncIterator[FakeCluster]:
    """Run ``size`` control planes on addresses of their own and the same two free ports."""
    authority, kubernetes = Authority(), Authority("kubernetes")
    person = authority.client()
    etcd = Etcd()
    machines = [FakeMachine(f"cp-{n}", f"{network}.{n}", etcd, member_id=0xA0 + n) for n in range(1, size + 1)]
    etcd.members = {machine.member_id: (machine.name, False) for machine in machines}
    async with AsyncExitStack() as stack:
        talos_port = kubernetes_port = 0
        for machine in machines:
            machine.kubeconfig = archive(kubeconfig_text(kubernetes.pem, kubernetes.client()))
            context = server_context(authority, authority.server(machine.address))
            talos_port = await stack.enter_async_context(serve_talos(machine, context, talos_port))
            context = server_context(kubernetes, kubernetes.server(machine.address))
            kubernetes_port = await stack.enter_async_context(serve_kubernetes(machine, context, kubernetes_port))
        credentials = Credentials(authority.pem, person.crt, person.key)
        yield FakeCluster(authority, credentials, etcd, machines, Ports(talos_port, kubernetes_port))


@asynccontextmanager
async def serve_talos(machine: FakeMachine, context: ssl.SSLContext, port: int = 0) -> AsyncIterator[int]:
    services = [_Machine(machine), _State(machine)]  # type: ignore[abstract]  # see above
    server = Server([_Watched(machine, service) for service in services])
    await server.start(machine.address, port, ssl=context)
    try:
        yield port or server._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    finally:
        server.close()
        await server.wait_closed()


@asynccontextmanager
async def serve_kubernetes(machine: FakeMachine, context: ssl.SSLContext, port: int = 0) -> AsyncIterator[int]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b"[+]ping ok\n[-]etcd failed: reason withheld\n" if machine.readyz != 200 else b"ok"
        writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (machine.readyz, len(body), body))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, machine.address, port, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


def server_context(authority: Authority | None, pair: Pair) -> ssl.SSLContext:
    """Return a machine's context; without an authority it asks for no client certificate, as in maintenance mode."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["h2", "http/1.1"])
    tls.load_identity(context, pair.crt, pair.key)
    if authority:
        tls.trust(context, authority.pem)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def kubeconfig_text(ca: bytes, pair: Pair) -> str:
    def text(pem: bytes) -> str:
        return base64.b64encode(pem).decode()

    user = {"client-certificate-data": text(pair.crt), "client-key-data": text(tls.loadable_key(pair.key))}
    return yaml.safe_dump(
        {
            "current-context": "admin@lab",
            "contexts": [{"name": "admin@lab", "context": {"cluster": "lab", "user": "admin"}}],
            "clusters": [{"name": "lab", "cluster": {"certificate-authority-data": text(ca)}}],
            "users": [{"name": "admin", "user": user}],
        }
    )


def archive(text: str, name: str = "kubeconfig") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = len(text.encode())
        tar.addfile(entry, io.BytesIO(text.encode()))
    return file.getvalue()
