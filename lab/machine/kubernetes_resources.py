"""The resources about Kubernetes that tools read: the node's name, the static pods, what is installed at bootstrap."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct

from lab.machine import wire
from lab.machine.resource import Item, Kind

if TYPE_CHECKING:
    from lab.machine.session import Session

STATIC_PODS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")


def _nodename(session: "Session") -> Iterator[Item]:
    if session.configured:
        shown = {"nodename": session.hostname, "skipNodeRegistration": False}
        yield Item("nodename", wire.message((1, session.hostname)), json.dumps(shown))


def _static_pods(session: "Session") -> Iterator[Item]:
    if session.kubeapi is None:
        return
    for name in STATIC_PODS:
        ready = "True" if session.kubeapi.running else "False"
        pod: dict[str, object] = {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}
        proto = wire.message((1, ParseDict(pod, Struct()).SerializeToString()))
        yield Item(f"kube-system/{name}-{session.hostname}", proto, json.dumps({"podStatus": pod}))


def _manifests(session: "Session") -> Iterator[Item]:
    if session.settings.is_control_plane and session.configured:
        cni = session.settings.cni
        proto = wire.message((1, session.settings.endpoint_url), (11, cni == "flannel"), (21, cni))
        yield Item("manifests", proto, json.dumps({"server": session.settings.endpoint_url, "cniName": cni}))


KUBERNETES: tuple[Kind, ...] = (
    Kind("Nodenames.kubernetes.talos.dev", "k8s", (), _nodename),
    Kind("StaticPodStatuses.kubernetes.talos.dev", "k8s", ("podstatus",), _static_pods),
    Kind("BootstrapManifestsConfigs.kubernetes.talos.dev", "controlplane", (), _manifests),
)
