"""A simulated Talos machine: power, boots, and what outlives them."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

from lab.machine import durations
from lab.machine.describe import describe
from lab.machine.hardware import Hardware
from lab.machine.session import Session
from lab.machine.session_ends import SHUTDOWN
from lab.machine.settings import Settings
from lab.machine.system_disk import BootEntry, SystemDisk, image_schematic, image_version
from lab.machine.world import MachineWorld


class Machine:
    """One machine of a world. Owns its power, its system disk and the session that runs while it is up.

    Refuses a uuid, name or address that another machine of the world has (ValueError).
    """

    def __init__(self, hardware: Hardware, world: MachineWorld) -> None:
        """Add the machine to the world, without power."""
        self.hardware = hardware
        self.world = world
        self.disk = SystemDisk()
        if hardware.preinstalled:
            self.disk.write("", hardware.talos_version, hardware.schematic)
        self.session: Session | None = None
        self.cluster = self.role = ""  # which cluster it was configured for, as discovery remembers it
        self.member = 0  # etcd member id, kept with the data
        self.images: set[tuple[int, str]] = set()  # pulled container images, by namespace and name
        self.stage = "off"
        self._life: asyncio.Task[None] | None = None
        self._fault_cleared = asyncio.Event()
        world.register(self)
        self.record("registered", address=hardware.address, uuid=hardware.uuid)

    @property
    def name(self) -> str:
        """The name that people call the machine by, not its host name."""
        return self.hardware.name

    @property
    def directory(self) -> Path:
        """Where its etcd lives."""
        return self.world.workdir / self.hardware.uuid

    @property
    def snapshot(self) -> Path:
        """The snapshot of etcd that was uploaded to it, if there is one."""
        return self.directory / "etcd.snapshot"

    async def power_on(self) -> None:
        """Press the button; a machine that runs takes no notice."""
        if self._life and not self._life.done():
            return
        self.directory.mkdir(parents=True, mode=0o700, exist_ok=True)
        self.stage = "booting"
        self.record("power-on")
        self._life = asyncio.get_running_loop().create_task(self._live())
        self._life.add_done_callback(self._ended)

    async def power_off(self) -> None:
        """Pull the plug: everything in memory is lost, the disk is not."""
        if self._life:
            self._life.cancel()
            await asyncio.gather(self._life, return_exceptions=True)
            self._life = None
            self.record("power-off")
        self.stage = "off"

    async def delete(self) -> None:
        """Remove the machine from the world, with its disk."""
        self.world.forget(self)
        self.record("deleted")
        await self.power_off()
        shutil.rmtree(self.directory, ignore_errors=True)

    def describe(self) -> dict[str, Any]:
        """What a person wants to see of it, in plain data and without a secret."""
        return describe(self)

    @property
    def entry(self) -> BootEntry:
        """What runs, or would after power on: from the disk or, without Talos on it, from the boot media."""
        if self.session:
            return self.session.entry
        return self.disk.default or BootEntry("", self.hardware.talos_version, self.hardware.schematic)

    @property
    def version(self) -> str:
        """The Talos version that runs, or would after power on."""
        return self.entry.version

    def record(self, event: str, **fields: object) -> None:
        """Write to the world's journal."""
        self.world.journal.record(event, self.name, **fields)

    def note(self, settings: Settings) -> None:
        """Remember whom it belongs to, and tell the journal what it must never hold."""
        self.cluster, self.role = settings.cluster_key, settings.role
        self.world.journal.keep_secret(settings.secrets())

    def fault(self, name: str) -> bool:
        """Whether a fault is on for this machine."""
        return self.world.faults.on(self.name, name)

    def fault_value(self, name: str, argument: str) -> float:
        """An argument of a fault, 0 when it is off."""
        return self.world.faults.value(self.name, name, argument)

    def persist(self, text: str) -> None:
        """Keep a configuration on the disk, if there is one to keep it on: without Talos on it, memory only."""
        if self.disk.installed:
            self.disk.configuration = text

    def install(self, image: str, text: str | None) -> None:
        """Write Talos and the configuration to an empty disk."""
        self.disk.configuration = text
        self.write(image, image_version(image, self.hardware.talos_version))

    def write(self, image: str, version: str) -> None:
        """Write a version of Talos to the disk; the next boot takes it."""
        running = self.disk.default
        self.disk.write(image, version, image_schematic(image))
        self.record("installed", image=image, version=version, beside=running.version if running else "")

    def missing(self, image: str) -> str:
        """Why an image cannot be pulled; empty where it can."""
        return f"{image}: not found" if self.fault("image-missing") else self.world.registry.missing(image)

    def wipe(self) -> None:
        """Lose everything on the system disk."""
        self.disk = SystemDisk()
        self.cluster = self.role = ""
        self.lose_data()
        self.lose_etcd()
        self.record("wiped")

    def lose_data(self) -> None:
        """Lose images and what was uploaded."""
        self.images = set()
        self.snapshot.unlink(missing_ok=True)

    def lose_etcd(self) -> None:
        """Lose etcd's data."""
        self.member = 0
        shutil.rmtree(self.directory / "etcd", ignore_errors=True)

    def _ended(self, life: asyncio.Task[None]) -> None:
        if not life.cancelled() and (error := life.exception()):
            self.stage = "broken by a fault in the lab"
            self.record("defect", what=f"{type(error).__name__}: {error}")
            asyncio.get_running_loop().call_exception_handler({"message": "machine life", "exception": error})

    async def _live(self) -> None:
        while True:
            await self._boot()
            if not self.disk.installed and not self.hardware.boot_media:
                self.stage = "nothing to boot from"
                return self.record("nothing-to-boot")
            ending = await self._run()
            if ending == SHUTDOWN:
                self.stage = "off"
                return self.record("power-off", why="shut down")
            self.record("reboot")
            await self._come_back()
            await self.world.clock.sleep(durations.FIRMWARE)

    async def _boot(self) -> None:
        self.stage = "booting"
        if self.fault("etcd-lost"):
            self.lose_etcd()
        await self.world.clock.sleep(durations.BOOT + self.fault_value("reboot-late", "seconds"))
        self.record("boot", version=self.version)

    async def _run(self) -> str:
        session = self.session = Session(self)
        cut = True
        try:
            ending = await session.run()
            cut = False
        finally:
            await self._close(session, cut)
            self.session = None
        return ending

    async def _close(self, session: Session, cut: bool) -> None:
        closing = asyncio.ensure_future(session.close(cut=cut))
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:  # the power went while it shut down in good order
            closing.cancel()
            await asyncio.gather(closing, return_exceptions=True)
            await session.close(cut=True)
            raise

    async def _come_back(self) -> None:
        while self.fault("never-back"):
            self.stage = "hangs"
            self._fault_cleared.clear()
            await self._fault_cleared.wait()

    def fault_switched(self, fault: str, on: bool) -> None:
        """React to a fault that was switched on or off."""
        self.record("fault", fault=fault, on=on)
        if not on:
            self._fault_cleared.set()
        if fault == "refuse" and self.session:
            self.session.api_port.plug(refuse=on)
