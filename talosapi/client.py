"""The calls this project makes of one machine, with typed answers."""

import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

from google.protobuf.empty_pb2 import Empty
from grpclib.client import ServiceMethod

from talosapi import answers, tls
from talosapi.connection import Answer, Connection, Request
from talosapi.credentials import Credentials
from talosapi.errors import Code, TalosError
from talosapi.gen import common_pb2, cosi_pb2, image_pb2, lifecycle_pb2, machine_pb2
from talosapi.gen.cosi_grpc import StateStub
from talosapi.gen.image_grpc import ImageServiceStub
from talosapi.gen.lifecycle_grpc import LifecycleServiceStub
from talosapi.gen.machine_grpc import MachineServiceStub
from talosapi.gen.storage_grpc import StorageServiceStub
from talosapi.results import (
    Applied,
    ApplyMode,
    Disk,
    EtcdMember,
    EtcdStatus,
    Installed,
    MachineStatus,
    RebootMode,
    Service,
    Version,
    WipeMode,
)

PORT = 50000
_INSTALLERS = common_pb2.ContainerdInstance(driver=common_pb2.CRI, namespace=common_pb2.NS_SYSTEM)
"""Where talosctl keeps installer images too."""
T = TypeVar("T")


class Client:
    """An async context manager for calls to one machine; every method raises TalosError.

    Without credentials it speaks to a machine in maintenance mode, whose certificate proves nothing. ``relay_to`` asks
    the machine at ``address`` to pass the calls on. ``timeout`` is the deadline of each call in seconds; calls that
    only read are made up to ``attempts`` times while the connection breaks or nothing comes back.
    """

    def __init__(
        self,
        address: str,
        credentials: Credentials | None,
        *,
        port: int = PORT,
        name: str | None = None,
        relay_to: str | None = None,
        timeout: float = 10.0,
        attempts: int = 1,
    ) -> None:
        """Check the credentials (raises CredentialsError) and connect to nothing yet; ``name`` is for messages."""
        self.address = address
        self._port = port
        self._context: ssl.SSLContext = credentials.context() if credentials else tls.insecure_context()
        self._name = name or relay_to or address
        self._relay_to = relay_to
        self._timeout = timeout
        self._attempts = attempts

    async def __aenter__(self) -> Self:
        """Make the channel; it connects with the first call."""
        self._connection = Connection(self._name, self.address, self._port, self._context, self._relay_to)
        self._machine = MachineServiceStub(self._connection.channel)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        self._connection.close()

    async def version(self) -> Version:
        """Ask which Talos runs; answered in maintenance mode too."""
        response = await self._ask(self._machine.Version, Empty())
        return answers.version(self._connection.single(response.messages))

    async def hostname(self) -> str:
        """Ask for the machine's host name."""
        response = await self._ask(self._machine.Hostname, Empty())
        return self._connection.single(response.messages).hostname

    async def services(self) -> dict[str, Service]:
        """Ask for Talos's services by id: etcd, kubelet, apid and so on."""
        response = await self._ask(self._machine.ServiceList, Empty())
        listed = self._connection.single(response.messages).services
        return {service.id: answers.service(service) for service in listed}

    async def disks(self) -> tuple[Disk, ...]:
        """Ask for the machine's disks; answered in maintenance mode too."""
        method = StorageServiceStub(self._connection.channel).Disks
        response = await self._ask(method, Empty())
        return tuple(answers.disk(disk) for disk in self._connection.single(response.messages).disks)

    async def machine_status(self) -> MachineStatus:
        """Ask which stage of its life the machine is in, such as running or rebooting."""
        spec = await self._spec("runtime", "MachineStatuses.runtime.talos.dev", "machine")
        return self._readable(answers.machine_status(spec), "its machine status")

    async def time_synchronised(self) -> bool:
        """Ask whether the machine's time follows its time servers, or is not meant to."""
        spec = await self._spec("runtime", "TimeStatuses.v1alpha1.talos.dev", "node")
        return self._readable(answers.time_status(spec), "the status of its time")

    async def machine_configuration(self) -> str:
        """Ask which configuration the machine runs with, secrets in it; NOT_FOUND when it has none."""
        spec = await self._spec("config", "MachineConfigs.config.talos.dev", "v1alpha1")
        return self._readable(answers.machine_configuration(spec), "its machine configuration")

    async def read(self, path: str) -> bytes:
        """Read a file of the machine."""
        request = machine_pb2.ReadRequest(path=path)
        return await self._collect(self._machine.Read, request)

    async def has(self, path: str) -> bool:
        """Tell whether the machine has a file, without reading more than its beginning."""
        chunks = self._connection.stream(self._machine.Read, machine_pb2.ReadRequest(path=path), self._timeout)
        try:
            async with contextlib.aclosing(chunks):
                return await anext(chunks, None) is not None
        except TalosError as error:
            if error.code is Code.NOT_FOUND or "no such file or directory" in error.message:
                return False
            raise

    async def boot_id(self) -> str:
        """Return what differs after every boot."""
        return (await self.read("/proc/sys/kernel/random/boot_id")).decode("ascii", "replace").strip()

    async def apply(
        self, configuration: str, *, mode: ApplyMode = ApplyMode.AUTO, dry_run: bool = False, timeout: float = 60.0
    ) -> Applied:
        """Give the machine its configuration; refused ones are INVALID_ARGUMENT."""
        request = machine_pb2.ApplyConfigurationRequest(data=configuration.encode(), mode=mode.value, dry_run=dry_run)
        response = await self._connection.call(self._machine.ApplyConfiguration, [request], timeout)
        return answers.applied(self._connection.single(response.messages))

    async def bootstrap(self, *, recover: bool = False, skip_hash_check: bool = False, timeout: float = 60.0) -> None:
        """Start the cluster's etcd on this machine; ALREADY_EXISTS when it has etcd's data already."""
        request = machine_pb2.BootstrapRequest(recover_etcd=recover, recover_skip_hash_check=skip_hash_check)
        response = await self._connection.call(self._machine.Bootstrap, [request], timeout)
        self._connection.single(response.messages)

    async def reboot(self, mode: RebootMode = RebootMode.DEFAULT) -> str:
        """Ask for a reboot and return the id its events carry."""
        request = machine_pb2.RebootRequest(mode=mode.value)
        response = await self._connection.call(self._machine.Reboot, [request], self._timeout)
        return self._connection.single(response.messages).actor_id

    async def shutdown(self, *, force: bool = False) -> str:
        """Ask for a shutdown and return the id its events carry."""
        request = machine_pb2.ShutdownRequest(force=force)
        response = await self._connection.call(self._machine.Shutdown, [request], self._timeout)
        return self._connection.single(response.messages).actor_id

    async def reset(
        self,
        *,
        graceful: bool = True,
        reboot: bool = False,
        mode: WipeMode = WipeMode.ALL,
        labels: tuple[str, ...] = (),
        user_disks: tuple[str, ...] = (),
    ) -> str:
        """Ask for the machine to be wiped, only the partitions of these labels if any; return the id of its events."""
        request = machine_pb2.ResetRequest(
            graceful=graceful,
            reboot=reboot,
            system_partitions_to_wipe=[machine_pb2.ResetPartitionSpec(label=label, wipe=True) for label in labels],
            user_disks_to_wipe=user_disks,
            mode=mode.value,
        )
        response = await self._connection.call(self._machine.Reset, [request], self._timeout)
        return self._connection.single(response.messages).actor_id

    async def schematic(self) -> str:
        """Ask for the id of the schematic that the running image was built from; empty where no factory built it."""
        request = cosi_pb2.ListRequest(namespace="runtime", type="ExtensionStatuses.runtime.talos.dev")
        method = StateStub(self._connection.channel).List

        async def listed() -> list[bytes]:
            answer = self._connection.stream(method, request, self._timeout)
            return [part.resource.spec.proto_spec async for part in answer]

        return answers.schematic(await self._repeated(listed))

    async def pull(self, image: str, *, timeout: float = 600.0) -> None:
        """Pull an installer image and keep it for `install`; NOT_FOUND where there is none of that name."""
        request = image_pb2.ImageServicePullRequest(containerd=_INSTALLERS, image_ref=image)
        async for _ in self._connection.stream(ImageServiceStub(self._connection.channel).Pull, request, timeout):
            pass

    async def install(self, image: str, *, timeout: float = 600.0) -> Installed:
        """Install a pulled image beside what runs, to be booted next; from Talos 1.13 on, UNIMPLEMENTED before.

        ``timeout`` is for each line of the installer. FAILED_PRECONDITION where an installer is at work already.
        """
        source = lifecycle_pb2.InstallArtifactsSource(image_name=image)
        request = lifecycle_pb2.LifecycleServiceUpgradeRequest(containerd=_INSTALLERS, source=source)
        method = LifecycleServiceStub(self._connection.channel).Upgrade
        parts = [part.progress async for part in self._connection.stream(method, request, timeout)]
        return answers.installed(parts)

    async def upgrade(self, image: str, *, stage: bool = False, force: bool = False, timeout: float = 600.0) -> str:
        """Ask for an upgrade to this installer image, reboot included, and return the id of its events.

        An answer says that the image is there and etcd may spare the machine, not that anything was installed.
        """
        request = machine_pb2.UpgradeRequest(image=image, stage=stage, force=force)
        response = await self._connection.call(self._machine.Upgrade, [request], timeout)
        return self._connection.single(response.messages).actor_id

    async def kubeconfig(self) -> str:
        """Ask a control plane for an administrator's kubeconfig, which is a secret."""
        text = answers.kubeconfig(await self._collect(self._machine.Kubeconfig, Empty()))
        if text is None:
            raise self._connection.error(Code.INTERNAL, "its kubeconfig is not an archive with a file kubeconfig")
        return text

    async def etcd_members(self, *, local: bool = False) -> tuple[EtcdMember, ...]:
        """Ask a control plane for etcd's members; ``local`` asks its own member alone."""
        request = machine_pb2.EtcdMemberListRequest(query_local=local)
        response = await self._ask(self._machine.EtcdMemberList, request)
        return tuple(answers.etcd_member(member) for member in self._connection.single(response.messages).members)

    async def etcd_status(self) -> EtcdStatus:
        """Ask a control plane's own member how it is."""
        response = await self._ask(self._machine.EtcdStatus, Empty())
        return answers.etcd_status(self._connection.single(response.messages).member_status)

    async def forfeit_leadership(self) -> None:
        """Let another member lead etcd, where this one does."""
        response = await self._connection.call(
            self._machine.EtcdForfeitLeadership, [machine_pb2.EtcdForfeitLeadershipRequest()], self._timeout
        )
        self._connection.single(response.messages)

    async def etcd_snapshot(self, *, timeout: float = 60.0) -> AsyncIterator[bytes]:
        """Stream a snapshot of etcd, which holds every secret of the cluster."""
        request = machine_pb2.EtcdSnapshotRequest()
        async for chunk in self._connection.stream(self._machine.EtcdSnapshot, request, timeout):
            yield chunk.bytes

    async def _ask(self, method: ServiceMethod[Request, Answer], request: Request) -> Answer:
        return await self._repeated(lambda: self._connection.call(method, [request], self._timeout))

    async def _spec(self, namespace: str, kind: str, name: str) -> bytes:
        """Ask for a resource of the machine's state, as the bytes of its spec."""
        request = cosi_pb2.GetRequest(namespace=namespace, type=kind, id=name)
        response = await self._ask(StateStub(self._connection.channel).Get, request)
        return response.resource.spec.proto_spec

    def _readable(self, value: T | None, what: str) -> T:
        if value is None:
            raise self._connection.error(Code.INTERNAL, f"{what} cannot be read")
        return value

    async def _collect(self, method: ServiceMethod[Request, common_pb2.Data], request: Request) -> bytes:
        async def collect() -> bytes:
            chunks = self._connection.stream(method, request, self._timeout)
            return b"".join([chunk.bytes async for chunk in chunks])

        return await self._repeated(collect)

    async def _repeated(self, ask: Callable[[], Awaitable[T]]) -> T:
        for _ in range(self._attempts - 1):
            try:
                return await ask()
            except TalosError as error:
                if error.refused or error.code not in {Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED}:
                    raise
        return await ask()
