"""What is to be done next to a machine, from what it says and what is noted on its Node: a table, nothing is asked."""

from dataclasses import dataclass
from enum import Enum

from provider.marker import Marker, Phase
from provider.release import Release
from talosapi.results import Stage


class Step(Enum):
    """The next step; the values are for messages."""

    NOTHING = "nothing"
    WAIT = "wait until it runs"
    INSTALL = "install beside what runs"
    """By LifecycleService: from Talos 1.13 on."""
    UPGRADE = "install and reboot in one call"
    """The only way before it."""
    SETTLE = "wait for the installer that was asked already"
    REBOOT = "reboot into what is installed"
    FINISH = "let pods come again"
    ROLLED_BACK = "report that it came back with what it ran before"


@dataclass(frozen=True)
class Seen:
    """A machine that answers. ``cordoned``: by this provider; ``lifecycle``: it can install without a reboot."""

    version: str
    schematic: str
    boot: str
    stage: Stage
    ready: bool
    marker: Marker | None
    cordoned: bool
    lifecycle: bool


def next_step(wanted: Release, seen: Seen) -> Step:
    """Derive the step.

    An installation that was not booted yet comes first, also of another image: a second one before the reboot would
    delete the entry that runs, and with it the way back.
    """
    marker = seen.marker
    if marker and marker.boot == seen.boot:
        return _before_its_reboot(marker, wanted, seen)
    if seen.stage is not Stage.RUNNING or not seen.ready:
        if _runs(wanted, seen) and marker is None and not seen.cordoned:
            return Step.NOTHING
        return Step.WAIT
    if _runs(wanted, seen):
        return Step.FINISH if marker or seen.cordoned else Step.NOTHING
    if marker and marker.image == wanted.image and marker.phase is not Phase.INSTALLING:
        return Step.ROLLED_BACK
    return Step.INSTALL if seen.lifecycle and not wanted.staged else Step.UPGRADE


_GOING_DOWN = frozenset({Stage.REBOOTING, Stage.UPGRADING, Stage.SHUTTING_DOWN, Stage.RESETTING})


def _before_its_reboot(marker: Marker, wanted: Release, seen: Seen) -> Step:
    if seen.stage in _GOING_DOWN:
        return Step.WAIT
    match marker.phase:
        case Phase.INSTALLED:
            return Step.REBOOT
        case Phase.INSTALLING:
            return Step.SETTLE
    if seen.stage is not Stage.RUNNING:
        return Step.WAIT
    if _runs(wanted, seen):
        return Step.FINISH
    return Step.UPGRADE


def _runs(wanted: Release, seen: Seen) -> bool:
    return (seen.version, seen.schematic) == (wanted.version, wanted.schematic)
