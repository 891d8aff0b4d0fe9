"""The Talos release and schematic of a node, as a resource: its properties, and what a change of them means."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from versioning import read_version
from versioning.upgrades import refusal

UNKNOWN = object()
"""Stands for what a preview does not know yet."""
_COMPARED = ("address", "version", "schematic")
"""Which machine it is, and what it is asked for; all else are settings of the way there."""
MAINTENANCE = "maintenance"


@dataclass(frozen=True)
class Machine:
    """A machine by its name in the stack file and its address."""

    name: str
    address: str


@dataclass(frozen=True)
class Release:
    """What a node shall run, and how it gets there. Times are in seconds.

    ``control_planes`` are those of the stack, for the arithmetic of the quorum; ``drain_timeout`` 0 moves no pods.
    """

    machine: Machine
    is_control_plane: bool
    version: str
    schematic: str
    image: str
    control_planes: tuple[Machine, ...]
    timeout: float
    drain_timeout: float
    go_on_undrained: bool
    staged: bool
    accept_quorum_loss: bool

    @classmethod
    def of(cls, inputs: Mapping[str, Any]) -> "Release":
        """Take checked inputs."""
        return cls(
            Machine(inputs["node"], inputs["address"]),
            inputs["machineType"] == "controlplane",
            inputs["version"],
            inputs["schematic"],
            inputs["image"],
            tuple(Machine(each["node"], each["address"]) for each in inputs["controlPlanes"]),
            float(inputs["timeout"]),
            float(inputs["drainTimeout"]),
            bool(inputs["goOnUndrained"]),
            bool(inputs["staged"]),
            bool(inputs["acceptQuorumLoss"]),
        )


_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "node": str,
    "address": str,
    "machineType": str,
    "version": str,
    "schematic": str,
    "image": str,
    "controlPlanes": list,
    "timeout": (int, float),
    "drainTimeout": (int, float),
    "goOnUndrained": bool,
    "staged": bool,
    "acceptQuorumLoss": bool,
}


def failures(inputs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with inputs: property and reason. What is not known yet is right."""
    for name in inputs.keys() - _KINDS.keys():
        yield name, "is no property of a release"
    for name, kind in _KINDS.items():
        value = inputs.get(name)
        if value is not UNKNOWN and not isinstance(value, kind):
            yield name, "is missing" if value is None else "has the wrong type"
    version, image = inputs.get("version"), inputs.get("image")
    if isinstance(version, str):
        if read_version(version) is None:
            yield "version", f"{version} is not a version, such as v1.13.9"
        elif isinstance(image, str) and not image.endswith(f":{version}"):
            yield "image", f"{image} is not the installer of {version}"
    if inputs.get("machineType") not in ("controlplane", "worker", UNKNOWN):
        yield "machineType", "is neither controlplane nor worker"


def changed(state: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[str]:
    """Return what differs from what is on record or was seen by a refresh; settings do not count."""
    return [name for name in _COMPARED if inputs.get(name) not in (state.get(name), UNKNOWN)]


def is_new(state: Mapping[str, Any]) -> bool:
    """Whether a refresh saw that the machine was reset or installed anew: it is another one, to be configured again."""
    return state.get("stage") == MAINTENANCE


def path_refusal(state: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
    """Return why the machine cannot go from the version on record to the wanted one, empty where it can."""
    return refusal(str(state.get("version", "")), str(inputs.get("version", "")))
