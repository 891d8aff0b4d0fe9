"""Stacks for tests of rendering: small, whole, and easy to change in one thing."""

import copy
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from findings import Finding, FindingsError, said_once
from machineconfig import Patch, PlanError, make_plan
from machineconfig.checks import patch_findings
from machineconfig.checks.waivers import waived
from machineconfig.render import render_node as rendered_node
from machineconfig.render import render_what_can_be
from machineconfig.sources import Sources
from topology import Node, Topology, load

PATCHES = Path(__file__).parents[2] / "patches"

_HOMELAB: dict[str, Any] = {
    "name": "homelab",
    "versions": {"talos": "v1.13.9", "kubernetes": "v1.36.2", "contract": "v1.13"},
    "network": {
        "nodes": "192.168.1.0/24",
        "gateway": "192.168.1.1",
        "nameservers": ["192.168.1.1"],
        "vip": "192.168.1.120",
        "cni": "none",
    },
    "images": {"default": {"extensions": ["siderolabs/qemu-guest-agent"]}},
    "platform": {
        "kind": "proxmox",
        "endpoint": "https://pve.example.internal:8006",
        "host": "pve",
        "datastore": "local-lvm",
    },
    "nodes": [
        {"name": "cp1", "role": "controlplane", "address": "192.168.1.121", "cores": 4, "memory": 8192, "diskSize": 40},
        {"name": "w1", "role": "worker", "address": "192.168.1.122", "cores": 4, "memory": 8192, "diskSize": 40},
    ],
}


def raw(**changes: Any) -> dict[str, Any]:
    """A stack of one control plane and one worker on Proxmox; a change is a path with `__` between its keys."""
    cluster = copy.deepcopy(_HOMELAB)
    for path, value in changes.items():
        *above, last = path.split("__")
        at = cluster
        for key in above:
            at = at.setdefault(key, {})
        at[last] = value
    return cluster


def stack(**changes: Any) -> Topology:
    """The topology of such a stack."""
    return load(raw(**changes))


OLD = {"talos": "v1.11.6", "kubernetes": "v1.33.1", "contract": "v1.11"}
BARE_METAL: dict[str, Any] = {
    "platform": {"kind": "bare-metal"},
    "nodes": [
        {"name": "cp1", "role": "controlplane", "address": "192.168.1.121", "installDisk": {"serial": "S1"}},
        {"name": "w1", "role": "worker", "address": "192.168.1.122", "installDisk": "/dev/disk/by-id/x"},
    ],
    "network__interface": "enp3s0",
}
BONDED: dict[str, Any] = {
    "platform": {
        "kind": "bare-metal",
        "link": {
            "name": "bond0",
            "mtu": 1500,
            "bond": {"members": ["0000:18:00.0", "0000:18:00.1"]},
            "vlan": {"id": 20},
        },
    },
    "nodes": BARE_METAL["nodes"],
}
"""Every address is on VLAN 20 of a bond."""


def write(root: Path, files: dict[str, str]) -> Path:
    """A folder of patches."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


class RenderingError(FindingsError):
    """What is wrong with the patches of one or more nodes."""


def render_node(topology: Topology, node: Node, *, root: Path) -> tuple[Patch, ...]:
    """The patches of a node; raises RenderingError."""
    made = rendered_node(topology, node, Sources(root))
    if made.findings:
        raise RenderingError(made.findings)
    return made.patches


def render_cluster(topology: Topology, *, root: Path) -> dict[str, tuple[Patch, ...]]:
    """The patches of all nodes; raises RenderingError."""
    patches, findings = render_what_can_be(topology, root=root)
    if findings:
        raise RenderingError(findings)
    return patches


def check_patches(topology: Topology, patches: Mapping[str, Sequence[Patch]]) -> tuple[Finding, ...]:
    """What is wrong with rendered patches by themselves."""
    return said_once(finding for finding in patch_findings(topology, patches) if not waived(topology, finding))


def rendered(topology: Topology, name: str, root: Path = PATCHES) -> tuple[Patch, ...]:
    """The patches of a node by its name."""
    return render_node(topology, topology.node(name), root=root)


def refused(topology: Topology, name: str, root: Path) -> tuple[Finding, ...]:
    """The findings with which a rendering is refused."""
    try:
        rendered(topology, name, root)
    except RenderingError as error:
        return error.findings
    raise AssertionError("nothing was refused")


def found(topology: Topology, root: Path) -> list[str]:
    """The lines of the findings in patches for all nodes of a stack, without the checks' ids."""
    patches = {node.name: rendered(topology, node.name, root) for node in topology.nodes}
    return [str(replace(finding, check="")) for finding in check_patches(topology, patches)]


def refused_and_warned(folder: Path, files: dict[str, str], **changes: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a preview says of a stack with more patches than the repo's: what is refused, and what is warned of."""
    root = folder / "patches"
    shutil.copytree(PATCHES, root, dirs_exist_ok=True)
    try:
        return (), make_plan(raw(**changes), patches=write(root, files)).warnings
    except PlanError as error:
        return error.lines, error.plan.warnings if error.plan else ()
