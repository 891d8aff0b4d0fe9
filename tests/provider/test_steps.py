"""The next step, for everything that a machine and its Node can say."""

from dataclasses import replace
from itertools import product

import pytest

from provider.marker import Marker, Phase
from provider.steps import Seen, Step, next_step
from talosapi.results import Stage
from tests.provider.releases import AFTER, BEFORE, WANTED

OTHER_IMAGE = "factory.example.net/metal-installer/other:v1.13.8"
HERE, EARLIER = BEFORE.boot, "boot-0"


def marker(phase: Phase, boot: str = HERE, image: str = WANTED.image) -> Marker:
    return Marker(phase, boot, image)


@pytest.mark.parametrize(
    ("seen", "step"),
    [
        (BEFORE, Step.INSTALL),
        (replace(BEFORE, version=WANTED.version, schematic="a" * 64), Step.INSTALL),
        (replace(BEFORE, schematic=""), Step.INSTALL),
        (replace(BEFORE, lifecycle=False), Step.UPGRADE),
        (replace(BEFORE, cordoned=True), Step.INSTALL),
        (replace(BEFORE, stage=Stage.BOOTING, ready=False), Step.WAIT),
        (replace(BEFORE, ready=False), Step.WAIT),
        # Asked to install; how that ended is not known.
        (replace(BEFORE, marker=marker(Phase.INSTALLING)), Step.SETTLE),
        (replace(BEFORE, marker=marker(Phase.INSTALLING), cordoned=True), Step.SETTLE),
        (replace(BEFORE, marker=marker(Phase.INSTALLING, image=OTHER_IMAGE)), Step.SETTLE),
        (replace(BEFORE, marker=marker(Phase.INSTALLING, EARLIER)), Step.INSTALL),
        # Installed, and not booted since.
        (replace(BEFORE, marker=marker(Phase.INSTALLED)), Step.REBOOT),
        (replace(BEFORE, marker=marker(Phase.INSTALLED), stage=Stage.BOOTING, ready=False), Step.REBOOT),
        (replace(BEFORE, marker=marker(Phase.INSTALLED), stage=Stage.REBOOTING), Step.WAIT),
        (replace(BEFORE, marker=marker(Phase.INSTALLED, image=OTHER_IMAGE)), Step.REBOOT),
        # The older call was made.
        (replace(BEFORE, marker=marker(Phase.UPGRADING), lifecycle=False), Step.UPGRADE),
        (replace(BEFORE, marker=marker(Phase.UPGRADING), stage=Stage.UPGRADING), Step.WAIT),
        (replace(BEFORE, marker=marker(Phase.UPGRADING), stage=Stage.BOOTING), Step.WAIT),
        # It came back with what it ran before.
        (replace(BEFORE, marker=marker(Phase.INSTALLED, EARLIER)), Step.ROLLED_BACK),
        (replace(BEFORE, marker=marker(Phase.UPGRADING, EARLIER)), Step.ROLLED_BACK),
        (replace(BEFORE, marker=marker(Phase.INSTALLED, EARLIER), stage=Stage.BOOTING, ready=False), Step.WAIT),
        (replace(BEFORE, marker=marker(Phase.INSTALLED, EARLIER, OTHER_IMAGE)), Step.INSTALL),
        # It came back with what is wanted.
        (replace(AFTER, marker=marker(Phase.INSTALLED), cordoned=True), Step.FINISH),
        (replace(AFTER, marker=marker(Phase.INSTALLING), cordoned=True), Step.FINISH),
        (replace(AFTER, marker=marker(Phase.UPGRADING)), Step.FINISH),
        (replace(AFTER, marker=marker(Phase.INSTALLED), stage=Stage.BOOTING, ready=False), Step.WAIT),
        (replace(AFTER, marker=marker(Phase.INSTALLED), ready=False), Step.WAIT),
        (replace(AFTER, cordoned=True), Step.FINISH),
        (AFTER, Step.NOTHING),
        (replace(AFTER, stage=Stage.BOOTING, ready=False), Step.NOTHING),
    ],
)
def test_the_next_step_follows_from_what_the_machine_says(seen: Seen, step: Step) -> None:
    assert next_step(WANTED, seen) is step


def test_an_upgrade_that_is_to_be_staged_is_left_to_the_boot() -> None:
    assert next_step(replace(WANTED, staged=True), BEFORE) is Step.UPGRADE


def everything() -> list[Seen]:
    markers = [None, *(marker(*each) for each in product(Phase, (HERE, EARLIER), (WANTED.image, OTHER_IMAGE)))]
    machines = product(
        ("v1.13.9", WANTED.version), (WANTED.schematic, ""), Stage, (True, False), markers, (True, False), (True, False)
    )
    return [Seen(version, schematic, HERE, *rest) for version, schematic, *rest in machines]  # type: ignore[arg-type]


def test_never_is_a_second_image_installed_before_the_first_was_booted() -> None:
    pending = [seen for seen in everything() if seen.marker and seen.marker.boot == seen.boot]
    assert len(pending) > 1000
    for seen in pending:
        assert next_step(WANTED, seen) is not Step.INSTALL, seen
        if seen.marker and seen.marker.phase is not Phase.UPGRADING:
            assert next_step(WANTED, seen) is not Step.UPGRADE, seen


def test_the_end_is_only_what_is_wanted_with_nothing_left_behind() -> None:
    for seen in everything():
        if next_step(WANTED, seen) is Step.NOTHING:
            assert (seen.version, seen.schematic) == (WANTED.version, WANTED.schematic)
            assert seen.marker is None and not seen.cordoned


def test_a_machine_that_does_not_run_is_changed_by_a_reboot_at_most_and_only_into_what_is_installed() -> None:
    for seen in everything():
        step = next_step(WANTED, seen)
        if seen.stage is not Stage.RUNNING and step not in (Step.NOTHING, Step.WAIT):
            assert step in (Step.REBOOT, Step.SETTLE), seen
            assert seen.marker and seen.marker.boot == seen.boot
