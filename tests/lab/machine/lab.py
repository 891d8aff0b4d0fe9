"""A few simulated machines in the test's own process, and how a test talks to them."""

import asyncio
import contextlib
import inspect
import itertools
import os
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from google.protobuf.empty_pb2 import Empty
from grpclib import GRPCError
from grpclib.client import Channel
from grpclib.exceptions import StreamTerminatedError

from engine.tools import binary
from lab.clock import Clock
from lab.faults import Faults
from lab.journal import Journal
from lab.machine import Hardware, Machine, MachineWorld
from lab.machine.dispatch import METHODS
from lab.machine.pki import Pair, client_context
from lab.tools import ETCD, ETCDUTL
from machinery import GenerateArgs, client_certificate, generate_configuration, generate_secrets
from talosapi.gen.machine_pb2 import ApplyConfigurationRequest, ApplyConfigurationResponse, BootstrapRequest

SPEED = 200.0  # simulated seconds in one real one
Mode = ApplyConfigurationRequest
_networks = itertools.count(1)
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) + os.getpid() % 50


def etcd() -> Path:
    """The etcd that tests run: the one in LAB_ETCD, on PATH, or built once."""
    return Path(os.environ["LAB_ETCD"]) if "LAB_ETCD" in os.environ else binary(ETCD)


async def until(condition: Callable[[], Any], what: str, within: float = 60.0) -> Any:
    """Poll until ``condition`` (plain or async) is true; fail after so many seconds."""
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if inspect.isawaitable(value):
            value = await value
        if value:
            return value
        assert time.monotonic() < deadline, f"{what} did not come true within {within} s"
        await asyncio.sleep(0.02)


class HeldClock(Clock):
    """A clock that a test can hold, so that what lasts a moment is still so when the test looks."""

    def __init__(self, speed: float) -> None:
        super().__init__(speed)
        self._goes = asyncio.Event()
        self._goes.set()

    async def sleep(self, seconds: float, *, at_least: float = 0.0) -> None:
        await super().sleep(seconds, at_least=at_least)
        if seconds:
            await self._goes.wait()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Nothing that takes simulated time ends inside."""
        self._goes.clear()
        try:
            yield
        finally:
            self._goes.set()


class Lab:
    """A world with its own addresses on the loopback."""

    def __init__(self, directory: Path, speed: float = SPEED, program: Path = Path("no-etcd")) -> None:
        self.network = f"127.{100 + _WORKER}.{next(_networks)}"
        self.clock = HeldClock(speed)
        self.journal = Journal(directory / "journal.jsonl", self.clock)
        self.faults = Faults()
        self.world = MachineWorld(self.clock, self.journal, self.faults, program, directory / "machines")
        if program.is_absolute():
            self.world.etcdutl = binary(ETCDUTL)
        self.secrets = generate_secrets("v1.13")
        self.vip = f"{self.network}.5"

    async def machine(self, name: str, octet: int, **hardware: Any) -> Machine:
        """A machine with power."""
        raw = {"uuid": f"uuid-{name}", "name": name, "address": f"{self.network}.{octet}", **hardware}
        machine = Machine(Hardware.read(raw), self.world)
        await machine.power_on()
        return machine

    async def in_maintenance(self, name: str, octet: int, **hardware: Any) -> Machine:
        """A machine that waits for its configuration."""
        machine = await self.machine(name, octet, **hardware)
        await until(lambda: machine.session and machine.session.stage == "maintenance", f"{name} in maintenance")
        return machine

    def configuration(self, name: str, role: str = "controlplane", *patches: str, vip: bool = False) -> str:
        """A configuration for this lab's cluster."""
        own = [f"apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: {name}\nauto: 'off'\n"]
        if vip and role == "controlplane":
            shared = f"      dhcp: true\n      vip:\n        ip: {self.vip}\n"
            own.append(f"machine:\n  network:\n    interfaces:\n    - interface: eth0\n{shared}")
        host = self.vip if vip else f"{self.network}.11"
        kubernetes = "1.35.0"  # every release of Talos that is simulated runs it
        args = GenerateArgs(
            "demo",
            f"https://{host}:6443",
            role,
            self.secrets,
            talos_version="v1.12",
            kubernetes_version=kubernetes,
            patches=[*own, *patches],
        )
        return generate_configuration(args)

    def admin(self, role: str = "os:admin") -> ssl.SSLContext:
        """TLS of a client with a role."""
        pair = client_certificate(self.secrets.os, role)
        key = pair.key.replace("ED25519 PRIVATE KEY", "PRIVATE KEY")
        return client_context(self.secrets.os.crt.encode(), Pair(pair.crt.encode(), key.encode()), h2=True)

    async def call(self, machine: Machine, method: str, request: Any = None, **how: Any) -> Any:
        """One call with one answer; ``role``, ``metadata`` and ``tls`` say how."""
        return (await self.stream(machine, method, request, **how))[0]

    async def stream(
        self,
        machine: Machine,
        method: str,
        request: Any = None,
        *,
        role: str = "os:admin",
        metadata: Sequence[tuple[str, str]] = (),
        tls: ssl.SSLContext | None = None,
    ) -> list[Any]:
        """One call with every answer."""
        path = next(path for path in METHODS if path.endswith((f"/{method}", f".{method}")))
        handler = METHODS[path]
        address = machine.session.address if machine.session else machine.hardware.address
        channel = Channel(address, 50000, ssl=tls or self.admin(role))
        try:
            async with channel.request(
                path, handler.cardinality, handler.request_type, handler.reply_type, metadata=list(metadata), timeout=20
            ) as stream:
                await stream.send_message(
                    request or (Empty() if handler.request_type is Empty else handler.request_type()), end=True
                )
                return [answer async for answer in stream]
        finally:
            channel.close()

    async def answers(self, machine: Machine) -> bool:
        """Whether the machine API answers a client with a certificate."""
        try:
            return bool((await self.call(machine, "Version")).messages)
        except (OSError, StreamTerminatedError):
            return False

    async def apply(self, machine: Machine, text: str, mode: Any = Mode.AUTO, **how: Any) -> Any:
        """Send a configuration; without TLS of a client to a machine in maintenance mode."""
        request = ApplyConfigurationRequest(data=text.encode(), mode=mode, dry_run=how.pop("dry_run", False))
        if machine.session and not machine.session.configured:
            how.setdefault("tls", insecure())
        answer: ApplyConfigurationResponse = await self.call(machine, "ApplyConfiguration", request, **how)
        return answer.messages[0]

    async def bootstrap(self, machine: Machine) -> None:
        """Bootstrap as soon as it is possible."""

        async def accepted() -> bool:
            try:
                await self.call(machine, "Bootstrap", BootstrapRequest())
            except (OSError, GRPCError, StreamTerminatedError):
                return False
            return True

        await until(accepted, "bootstrap")

    def named(self, name: str) -> Machine:
        """A machine by its name."""
        machine = self.world.find(name)
        assert machine, f"there is no machine {name}"
        return machine

    def events(self, event: str, machine: str | None = None) -> list[dict[str, Any]]:
        """What the journal has of one kind."""
        return self.journal.events(event, machine)


def insecure() -> ssl.SSLContext:
    """TLS that asks for nothing and shows nothing."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context


async def running(directory: Path, program: Path | None = None) -> AsyncIterator[Lab]:
    """A lab that ends with its test."""
    lab = Lab(directory, program=program or Path("no-etcd"))
    try:
        yield lab
    finally:
        await lab.world.stop()
        lab.journal.close()
    assert lab.events("defect") == []


async def bring_up(lab: Lab) -> None:
    """Three control planes and a worker, from nothing to a cluster."""
    for name, octet in {"cp1": 11, "cp2": 12, "cp3": 13, "w1": 21}.items():
        machine = await lab.in_maintenance(name, octet)
        role = "worker" if name == "w1" else "controlplane"
        await lab.apply(machine, lab.configuration(name, role, vip=True))
    await lab.bootstrap(lab.named("cp1"))
    await until(lambda: len(lab.events("etcd-voting")) == 2, "three voting members")
    await until(lambda: len(lab.events("kubelet-joined")) == 4, "four nodes")
    await until(lambda: len(lab.events("apiserver-up")) == 3, "three API servers")
    await until(lambda: lab.events("vip-taken"), "the shared address is held")
