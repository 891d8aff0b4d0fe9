"""The boot of a machine with a configuration: install first where that is to be done, then start what it runs."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.machine import drain, durations, installer, status
from lab.machine.configuration import unreadable
from lab.machine.disks import chosen
from lab.machine.documents import section
from lab.machine.session_ends import REBOOT

if TYPE_CHECKING:
    from lab.machine.session import Session


async def boot(session: "Session") -> None:
    """Get the machine up; an installation ends the session, and the next one boots what was installed."""
    disk = session.machine.disk
    if image := disk.staged:
        disk.staged = ""
        return await _install_staged(session, image)
    if not disk.installed:
        return await _install(session)
    await session.enter(status.BOOTING)
    if why := unreadable(session.text or "", session.entry.version):
        return await session.fatal(f"the configuration on the disk cannot be read: {why}")
    if disk.unproven and session.machine.fault("rolls-back"):
        await session.machine.world.clock.sleep(durations.RETRY)
        return await session.fatal("a fault of the lab: this version does not boot")
    await _start_services(session)
    await _until(session, lambda: status.services_up(session))
    await session.enter(status.RUNNING)
    session.sequences.booted()
    session.spawn(_prove(session))
    session.start(drain.uncordon(session))
    return None


async def _install(session: "Session") -> None:
    machine = session.machine
    await session.enter("installing")
    machine.record("install", image=session.settings.installer)
    await machine.world.clock.sleep(durations.INSTALL)
    if why := _obstacle(session):
        machine.record("install-failed", why=why)  # nothing was written: it comes back in maintenance mode
    else:
        machine.install(session.settings.installer, session.text)
    session.end(REBOOT)


async def _install_staged(session: "Session", image: str) -> None:
    await session.enter("installing")
    if code := await installer.run(session, image, lambda _: None):
        return await session.fatal(f"the installer of the staged upgrade ended with exit code {code}")
    return session.end(REBOOT)


def _obstacle(session: "Session") -> str:
    if why := session.machine.missing(session.settings.installer):
        return why
    if session.machine.fault("full-disk"):
        return "no space left on device"
    install = section(session.settings.machine.get("install"))
    return "" if chosen(install, session.machine.hardware.disks) else "no disk matched the disk selector"


async def _start_services(session: "Session") -> None:
    session.running = True
    session.machine.record("running", hostname=session.hostname, role=session.settings.role)
    await session.machine.world.clock.sleep(durations.CRI)
    session.cri = True
    if session.settings.is_control_plane:
        session.start_control_plane()
    session.start(session.kubelet.run())


async def _prove(session: "Session") -> None:
    """Once it runs and is ready, there is no way back but the one that somebody asks for."""
    disk = session.machine.disk
    await _until(session, lambda: session.stage == status.RUNNING and not status.unmet(session))
    if disk.unproven and disk.default == session.entry:
        disk.unproven = False
        session.machine.record("proven", version=session.entry.version)


async def _until(session: "Session", condition: Callable[[], bool]) -> None:
    while not condition():
        await session.machine.world.clock.sleep(1.0, at_least=0.1)
