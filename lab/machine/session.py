"""One boot of a machine: everything that is in its memory, from the first service to the reboot."""

import asyncio
import contextlib
import time
import uuid
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from lab.machine import boot, durations, sequences, status
from lab.machine.api_port import ApiPort
from lab.machine.configuration import read
from lab.machine.etcd import Etcd
from lab.machine.kubeapi import KubeApi
from lab.machine.kubelet import Kubelet
from lab.machine.resource import Versions
from lab.machine.session_ends import REBOOT, SHUTDOWN
from lab.machine.settings import Settings
from lab.machine.try_mode import TryMode
from lab.machine.vip import SharedAddress
from talosapi.gen.machine_pb2 import MachineStatusEvent

if TYPE_CHECKING:
    from lab.machine.machine import Machine

MachineStage = MachineStatusEvent.MachineStage


class Session:
    """The running system. Lost as a whole when the machine loses power."""

    def __init__(self, machine: "Machine") -> None:
        """Start with what the disk holds."""
        self.machine = machine
        self.boot_id = str(uuid.uuid4())
        self.entry = machine.entry
        self.text = machine.disk.configuration
        self.settings = read(self.text) if self.text else Settings(())
        self.stage = status.BOOTING
        self.running = False  # its configuration is in use, and other machines of the cluster find it
        self.ending: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.actor = ""
        self.sequences = sequences.Sequences(self)
        self.upgrading = asyncio.Lock()
        self.applying = asyncio.Lock()
        self.applied_with_reboot = False
        self.cri = False
        self.etcd: Etcd | None = None
        self.kubeapi: KubeApi | None = None
        self.kubelet = Kubelet(self)
        self.api_port = ApiPort(self)
        self.vips: list[SharedAddress] = []
        self._configured = asyncio.Event()
        self.versions = Versions()
        self.started = time.time()
        self._born = machine.world.clock.now()
        self._tasks: set[asyncio.Task[None]] = set()
        self._services: list[asyncio.Task[None]] = []
        self.try_mode = TryMode(self)

    @property
    def configured(self) -> bool:
        """Whether there is a configuration to boot with: what ends maintenance mode."""
        return self.settings.complete

    @property
    def hostname(self) -> str:
        """The host name: the configuration's, the platform's, or one that Talos makes up."""
        hardware = self.machine.hardware
        given = hardware.name if hardware.preinstalled else hardware.stable_name
        return self.settings.hostname or given

    @property
    def address(self) -> str:
        """The address it answers on: its own unless the configuration gives it others only."""
        own = self.machine.hardware.address
        static = self.settings.addresses
        return own if not static or own in static else static[0]

    @property
    def uptime(self) -> float:
        """Simulated seconds since this boot."""
        return self.machine.world.clock.now() - self._born

    async def run(self) -> str:
        """Live to the end of this session and return how it ended."""
        if not self.configured:
            await self._maintain()
        self.machine.note(self.settings)
        self.spawn(self.api_port.open())
        self.sequences.start(sequences.BOOT, "", lambda: boot.boot(self))
        how = await self.ending
        if self.stage == "installing":  # a configuration that makes it reboot waits for the installation
            await self.sequences.finish()
        return how

    def configure(self, text: str, settings: Settings) -> None:
        """Take a configuration into use at once: it ends maintenance mode, or changes what can change while running."""
        before, self.text, self.settings = self.settings, text, settings
        if settings.complete:
            self.machine.note(settings)
        if not before.complete:
            if settings.complete:
                self._configured.set()
        elif self.running:
            self.spawn(self._reconfigure(before))

    def keep(self, text: str) -> None:
        """Keep a configuration for the next boot; before Talos is installed, the installation writes it."""
        self.machine.persist(text)
        if self.configured and not self.machine.disk.installed:
            self.text = text

    def end(self, how: str, actor: str = "") -> None:
        """End this session on behalf of a call (its actor id); the first end counts."""
        if not self.ending.done():
            self.actor = actor
            self.ending.set_result(how)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something for as long as the session lives; what fails in it is on the journal."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def enter(self, stage: str) -> None:
        """Come to a stage of the machine's life, and stay in it for as long as a fault says so."""
        self.stage = stage
        while self.machine.fault_value("hangs", "stage") == MachineStage.Value(stage.upper()):
            await self.machine.world.clock.sleep(durations.RETRY, at_least=0.1)

    async def fatal(self, why: str, actor: str = "") -> None:
        """End a sequence that cannot go on: a version that has not proven itself gives way to the one before it."""
        self.machine.record("fatal", why=why)
        self.stage = "rebooting"
        if self.machine.disk.unproven and (before := self.machine.disk.turn_back()):
            self.machine.record("turned-back", to=before.version)
        await self.machine.world.clock.sleep(durations.FATAL)
        self.end(REBOOT, actor)

    async def stop_services(self) -> None:
        """Stop what runs on the machine in Talos's order; its own API goes on answering."""
        for vip in self.vips:
            await vip.resign()
        await self.machine.world.clock.sleep(durations.STOP)
        self.running = self.cri = False
        self._drop_services()
        if self.etcd:
            await self.etcd.stop(cut=False)

    async def close(self, *, cut: bool) -> None:
        """Stop everything: in Talos's order, or at once when the power is cut."""
        if self.running:
            self.machine.world.discovery.hear(self)
        self.running = False
        if not cut:
            down = self.ending.done() and self.ending.result() == SHUTDOWN
            await self.enter("shutting_down" if down else "rebooting")
            await self.stop_services()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._drop_services()
        if cut:
            self.api_port.close()
            if self.etcd:
                await self.etcd.stop(cut=True)
        await self.api_port.close_after_answers()

    def _drop_services(self) -> None:
        for task in self._services:
            task.cancel()
        for vip in self.vips:
            vip.drop()
        if self.kubeapi:
            self.kubeapi.close()
        self.kubelet.stop()

    async def _maintain(self) -> None:
        await self.api_port.maintain()
        self.stage = "maintenance"
        self.machine.record("maintenance")
        await self._configured.wait()
        await self.api_port.close_after_answers()

    def start_control_plane(self) -> None:
        """Start what only a control plane runs."""
        self.etcd = Etcd(self)
        self.kubeapi = KubeApi(self)
        self.start(self.etcd.run(), self.kubeapi.run())
        self._campaign()

    def start(self, *services: Coroutine[Any, Any, None]) -> None:
        """Run services until the machine stops them all."""
        self._services += [self.spawn(service) for service in services]

    def _campaign(self) -> None:
        assert self.kubeapi  # noqa: S101 - control planes only
        self.vips = [SharedAddress(self, ip, self.kubeapi) for ip in self.settings.vips]
        self.start(*(vip.run() for vip in self.vips))

    async def _reconfigure(self, before: Settings) -> None:
        if before.vips != self.settings.vips and self.kubeapi:
            for vip in self.vips:
                await vip.resign()
                vip.stop()
            self._campaign()
        if before.kubernetes_version != self.settings.kubernetes_version and self.kubelet.running:
            self.kubelet.stop()
            await self.machine.world.clock.sleep(durations.STOP)
            self.start(self.kubelet.run())
        if (before.os_ca, before.cert_sans, before.hostname) != (
            *(self.settings.os_ca, self.settings.cert_sans, self.settings.hostname),
        ):
            await self.api_port.again()

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self.machine.record("defect", what=f"{type(error).__name__}: {error}")
            with contextlib.suppress(Exception):
                asyncio.get_running_loop().call_exception_handler({"message": "machine task", "exception": error})
