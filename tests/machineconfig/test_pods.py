"""The size of the piece of the pod network that each node gets, where a patch says it."""

from pathlib import Path
from typing import Any

import pytest

from tests.machineconfig.stacks import refused_and_warned

MASK = "cluster: {controllerManager: {extraArgs: {node-cidr-mask-size%s: %s}}}\n"
BOTH: dict[str, Any] = {
    "network__podSubnets": ["10.244.0.0/16", "fd00:10::/48"],
    "network__serviceSubnets": ["10.96.0.0/12", "fd00:11::/112"],
}


@pytest.mark.parametrize(
    ("flag", "mask", "changes", "message"),
    [
        ("", "130", {}, "130 is no prefix length of IPv4; give it a length from 17 to 32"),
        ("", "a", {}, "a is no prefix length of IPv4; give it a length from 17 to 32"),
        ("", "15", {}, "15 is larger than the pod network 10.244.0.0/16 itself; give it"),
        ("", "16", {}, "16 leaves 10.244.0.0/16 1 pieces for 2 nodes; give it a length from 17 to 32"),
        ("-ipv6", "64", {}, "64 is for IPv6, and no pod network is; leave it out"),
        ("", "24", BOTH, "24 is refused with pod networks of both families; use node-cidr-mask-size-ipv4"),
        ("-ipv6", "130", BOTH, "130 is no prefix length of IPv6; give it a length from 49 to 64"),
        ("-ipv6", "112", BOTH, "112 is 64 bits away from the pod network fd00:10::/48, and 16 are taken; give it"),
        ("-ipv4", "33", BOTH, "33 is no prefix length of IPv4"),
    ],
)
def test_a_mask_that_does_not_fit_is_refused(
    flag: str, mask: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (line,), _ = refused_and_warned(tmp_path, {"controlplane/70-x.yaml": MASK % (flag, mask)}, **changes)
    assert line.startswith(f"patches/controlplane/70-x.yaml:1 (cp1): node-cidr-mask-size{flag} {message}")


@pytest.mark.parametrize(
    ("flag", "mask", "changes"), [("", "26", {}), ("-ipv4", "25", {}), ("-ipv4", "25", BOTH), ("-ipv6", "60", BOTH)]
)
def test_a_mask_that_fits_is_clean(flag: str, mask: str, changes: dict[str, Any], tmp_path: Path) -> None:
    assert refused_and_warned(tmp_path, {"controlplane/70-x.yaml": MASK % (flag, mask)}, **changes)[0] == ()


def test_a_mask_that_is_a_secret_is_not_judged(tmp_path: Path) -> None:
    text = MASK % ("", "{{ secret('mask') | flow }}")
    assert refused_and_warned(tmp_path, {"controlplane/70-x.yaml.j2": text})[0] == ()
