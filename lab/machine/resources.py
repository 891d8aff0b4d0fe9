"""The few resources of a machine that tools read: its configuration, type, state, and the members of its cluster."""

import ipaddress
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct

from talosapi.gen import resources_pb2 as specs

if TYPE_CHECKING:
    from lab.machine.session import Session

_KINDS = {"controlplane": specs.CONTROL_PLANE, "worker": specs.WORKER}


@dataclass(frozen=True)
class Item:
    """One resource: its id and its content, for programs and for people (YAML; JSON is YAML)."""

    id: str
    proto: bytes
    yaml: str


@dataclass(frozen=True)
class Kind:
    """One type of resource; a sensitive one is for administrators."""

    type: str
    namespace: str
    aliases: tuple[str, ...]
    items: "Callable[[Session], Iterator[Item]]"
    sensitive: bool = False
    display: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every short name it is found by."""
        plural = self.type.partition(".")[0].lower()
        return (plural, plural.removesuffix("es") if plural.endswith("ses") else plural.removesuffix("s"))


class Versions:
    """The versions of the resources of one session: each counts up when its content changes."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._seen: dict[str, tuple[bytes, int]] = {}

    def of(self, key: str, content: bytes) -> int:
        """The version of a resource with this content, from 1 on."""
        before, version = self._seen.get(key, (b"", 0))
        if before != content or not version:
            self._seen[key] = (content, version + 1)
        return self._seen[key][1]


def _machine_config(session: "Session") -> Iterator[Item]:
    if session.configured and session.text is not None:
        proto = specs.MachineConfigSpec(yaml_marshalled=session.text.encode()).SerializeToString()
        yield Item("v1alpha1", proto, json.dumps(session.text))
    if (stored := session.machine.disk.configuration) is not None:
        proto = specs.MachineConfigSpec(yaml_marshalled=stored.encode()).SerializeToString()
        yield Item("persistent", proto, json.dumps(stored))


def _machine_type(session: "Session") -> Iterator[Item]:
    if session.configured:
        spec = specs.MachineTypeSpec(machine_type=_KINDS[session.settings.role])
        yield Item("machine-type", spec.SerializeToString(), session.settings.role)


def _machine_status(session: "Session") -> Iterator[Item]:
    stage = specs.MachineStage.Value(f"MACHINE_STAGE_{session.stage.upper()}")
    ready = session.stage == "running" and session.kubelet.running
    spec = specs.MachineStatusSpec(stage=stage, status=specs.MachineStatusSpec.Status(ready=ready))
    shown = {"stage": session.stage, "status": {"ready": ready, "unmetConditions": []}}
    yield Item("machine", spec.SerializeToString(), json.dumps(shown))


def _members(session: "Session") -> Iterator[Item]:
    for peer in session.machine.world.peers(session.settings) if session.configured else ():
        other = peer.session
        if other is None:
            continue
        address = ipaddress.ip_address(other.address)
        spec = specs.MemberSpec(
            node_id=peer.hardware.uuid,
            addresses=[specs.NetIP(ip=address.packed)],
            hostname=other.hostname,
            machine_type=_KINDS[other.settings.role],
            operating_system=f"Talos ({peer.version})",
        )
        shown: dict[str, object] = {
            "nodeId": peer.hardware.uuid,
            "addresses": [str(address)],
            "hostname": other.hostname,
            "machineType": other.settings.role,
            "operatingSystem": spec.operating_system,
        }
        if other.settings.is_control_plane:
            spec.control_plane.api_server_port = 6443
            shown["controlPlane"] = {"port": 6443}
        yield Item(other.hostname, spec.SerializeToString(), json.dumps(shown))


def _nodename(session: "Session") -> Iterator[Item]:
    if session.configured:
        # the spec has the name in field 1, and so has this message its only field
        proto = specs.MachineConfigSpec(yaml_marshalled=session.hostname.encode()).SerializeToString()
        yield Item("nodename", proto, json.dumps({"nodename": session.hostname, "skipNodeRegistration": False}))


def _static_pods(session: "Session") -> Iterator[Item]:
    if session.kubeapi is None:
        return
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler"):
        ready = "True" if session.kubeapi.running else "False"
        pod: dict[str, object] = {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}
        # the spec has the status in field 1, and so has this message its only field
        status = ParseDict(pod, Struct()).SerializeToString()
        proto = specs.MachineConfigSpec(yaml_marshalled=status).SerializeToString()
        yield Item(f"kube-system/{name}-{session.hostname}", proto, json.dumps({"podStatus": pod}))


KINDS: tuple[Kind, ...] = (
    Kind("MachineConfigs.config.talos.dev", "config", ("mc",), _machine_config, sensitive=True),
    Kind("MachineTypes.config.talos.dev", "config", ("mt",), _machine_type),
    Kind("MachineStatuses.runtime.talos.dev", "runtime", ("ms",), _machine_status),
    Kind("Nodenames.kubernetes.talos.dev", "k8s", (), _nodename),
    Kind("StaticPodStatuses.kubernetes.talos.dev", "k8s", ("podstatus",), _static_pods),
    Kind("Members.cluster.talos.dev", "cluster", ("member",), _members),
)
