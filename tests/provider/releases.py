"""A release for tests, and what a machine could say of itself."""

from dataclasses import replace
from typing import Any

from provider.release import Machine, Release
from provider.steps import Seen
from talosapi.results import Stage

WANTED = Release(
    machine=Machine("worker-01", "127.0.10.21"),
    is_control_plane=False,
    version="v1.13.10",
    schematic="b" * 64,
    image=f"factory.example.net/metal-installer/{'b' * 64}:v1.13.10",
    control_planes=(Machine("controlplane-01", "127.0.10.11"),),
    timeout=10,
    drain_timeout=5,
    go_on_undrained=False,
    staged=False,
    accept_quorum_loss=False,
)
BEFORE = Seen("v1.13.9", "b" * 64, "boot-1", Stage.RUNNING, ready=True, marker=None, cordoned=False, lifecycle=True)
AFTER = replace(BEFORE, version=WANTED.version, boot="boot-2")


def inputs(**changes: Any) -> dict[str, Any]:
    """The properties of `WANTED`, as the engine has them."""
    return {
        "node": "worker-01",
        "address": "127.0.10.21",
        "machineType": "worker",
        "version": WANTED.version,
        "schematic": WANTED.schematic,
        "image": WANTED.image,
        "controlPlanes": [{"node": "controlplane-01", "address": "127.0.10.11"}],
        "timeout": 10,
        "drainTimeout": 5,
        "goOnUndrained": False,
        "staged": False,
        "acceptQuorumLoss": False,
        **changes,
    }
