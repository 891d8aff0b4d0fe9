"""What a release may be, and what a change of it means."""

from typing import Any

import pytest

from provider.release import UNKNOWN, Release, changed, failures, is_new
from tests.provider.releases import WANTED, inputs


def test_right_inputs_are_a_release() -> None:
    assert list(failures(inputs())) == []
    assert Release.of(inputs()) == WANTED


def test_what_a_preview_does_not_know_yet_is_right() -> None:
    assert list(failures(dict.fromkeys(inputs(), UNKNOWN))) == []


@pytest.mark.parametrize(
    ("changes", "property_", "reason"),
    [
        ({"version": "1.13.9"}, "version", "1.13.9 is not a version, such as v1.13.9"),
        ({"version": "v1.13.9"}, "image", f"{WANTED.image} is not the installer of v1.13.9"),
        ({"machineType": "storage"}, "machineType", "is neither controlplane nor worker"),
        ({"timeout": "10"}, "timeout", "has the wrong type"),
        ({"schematic": None}, "schematic", "is missing"),
        ({"credentials": "x"}, "credentials", "is no property of a release"),
    ],
)
def test_wrong_inputs_are_named(changes: dict[str, Any], property_: str, reason: str) -> None:
    assert list(failures(inputs(**changes))) == [(property_, reason)]


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ({}, []),
        ({"version": "v1.13.9"}, ["version"]),
        ({"schematic": ""}, ["schematic"]),
        ({"version": "v1.13.9", "schematic": "a"}, ["version", "schematic"]),
        ({"address": "127.0.10.29"}, ["address"]),
        ({"timeout": 600, "controlPlanes": [], "drainTimeout": 0, "staged": True}, []),
    ],
)
def test_only_what_a_machine_runs_is_compared(state: dict[str, Any], names: list[str]) -> None:
    assert changed(inputs(**state), inputs()) == names


def test_a_machine_that_was_seen_without_a_configuration_is_a_new_one() -> None:
    assert is_new(inputs(stage="maintenance")) and not is_new(inputs())


def test_what_is_not_known_yet_is_no_change() -> None:
    assert changed(inputs(), inputs(address=UNKNOWN, version=UNKNOWN)) == []
