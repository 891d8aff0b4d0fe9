"""From which release to which: the program's rule lies within what Talos's installers let pass."""

import pytest

from topology.compatibility import SUPPORT
from versioning.upgrades import refusal


@pytest.mark.parametrize(
    ("running", "wanted", "why"),
    [
        ("v1.13.9", "v1.13.10", ""),
        ("v1.13.9", "v1.13.0", ""),
        ("v1.13.9", "v1.14.1", ""),
        ("v1.14.1", "v1.13.9", ""),
        ("v1.12.4", "v1.14.1", "it runs v1.12.4, and goes up one minor version at a time: to the newest v1.13 first"),
        ("v1.14.1", "v1.12.9", "it runs v1.14.1, and goes back one minor version at most"),
        ("v1.13.9", "v2.0.0", "it runs v1.13.9, and goes up one minor version at a time: to the newest v1.14 first"),
        ("v1.13.9-rc.1", "v1.14.1", ""),
        ("", "v1.14.1", ""),
    ],
)
def test_a_machine_goes_one_minor_version_at_a_time(running: str, wanted: str, why: str) -> None:
    assert refusal(running, wanted) == why


@pytest.mark.parametrize("target", SUPPORT, ids=str)
def test_no_step_is_let_pass_that_the_installer_refuses(target: object) -> None:
    support = SUPPORT[target]  # type: ignore[index]
    for host in SUPPORT:
        if not refusal(f"{host}.0", f"{target}.0"):
            assert support.upgrade_from <= host
            assert host.minor < target.minor + 2  # type: ignore[attr-defined]
