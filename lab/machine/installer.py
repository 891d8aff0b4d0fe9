"""An installer image at work on the system disk of a machine that runs."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.machine import durations, releases
from lab.machine.system_disk import image_version

if TYPE_CHECKING:
    from lab.machine.session import Session

Say = Callable[[str], None]
ENVIRONMENT, IO, INSTALL = 4, 6, 7
"""Exit codes of an installer that knows more than one."""


async def run(session: "Session", image: str, say: Say) -> int:
    """Write the version of ``image`` beside the one that runs; returns the exit code after saying what happened.

    The installer itself refuses a machine whose version it cannot follow. Whatever it exits with, the machine runs on.
    """
    machine = session.machine
    version = image_version(image, machine.hardware.talos_version)
    say(f"running Talos installer {version}")
    if not releases.may_follow(session.entry.version, version):
        say(f"pre-flight checks failed: host version {session.entry.version} is too far from {version}")
        return _exit_code(version, ENVIRONMENT)
    await machine.world.clock.sleep(durations.UPGRADE)
    if machine.fault("full-disk"):
        say("error writing the boot assets: no space left on device")
        return _exit_code(version, IO)
    if machine.fault("installer-fails"):
        say("failed to install the boot loader")
        return _exit_code(version, int(machine.fault_value("installer-fails", "exit")))
    machine.write(image, version)
    say(f"installation of {version} complete")
    return 0


def _exit_code(version: str, code: int) -> int:
    return code if releases.minor(version) >= releases.EXIT_CODES else 1
