"""Generated stacks: bare metal on loopback addresses, so that they also run where namespaces are not allowed."""

import sys
from pathlib import Path
from typing import Any

import yaml

from engine import ROOT

STACK = "bench"
LARGE = 50
"""Nodes; from this size on there are five control planes."""
_DISK = {"busPath": "/pci0000:00/0000:00:05.0/virtio2/"}


def cluster(nodes: int) -> dict[str, Any]:
    """Return the topology of a cluster with three or five control planes and workers for the rest."""
    if nodes <= 3:
        raise ValueError(f"{nodes} nodes: a benchmark has three control planes and at least one worker")
    planes = 5 if nodes >= LARGE else 3
    return {
        "name": STACK,
        "versions": {"talos": "v1.13.9", "kubernetes": "v1.36.2", "contract": "v1.13"},
        "secrets": {"generate": True},
        "network": {"nodes": "127.20.0.0/16", "vip": "127.20.0.5", "interface": "eth0"},
        "imageFactory": "https://127.20.0.2:8443",
        "images": {"default": {"extensions": ["siderolabs/iscsi-tools", "siderolabs/util-linux-tools"]}},
        "platform": {"kind": "bare-metal"},
        "nodes": [_node("controlplane", number) for number in range(1, planes + 1)]
        + [_node("worker", number) for number in range(1, nodes - planes + 1)],
    }


def _node(role: str, number: int) -> dict[str, Any]:
    address = f"127.20.1.{number}" if role == "controlplane" else f"127.20.2.{number}"
    return {"name": f"bench-{role}-{number:03}", "role": role, "address": address, "installDisk": _DISK}


def write(folder: Path, topology: dict[str, Any]) -> None:
    """Write a project whose program is this checkout's."""
    project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    project["main"] = str(ROOT)
    project["runtime"]["options"]["virtualenv"] = sys.prefix
    folder.mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
    config = {"config": {"talos-stacks:cluster": topology}}
    (folder / f"Pulumi.{STACK}.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
