"""The resources about what runs on a machine: its services, and what its configuration makes of Kubernetes's."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lab.machine import wire
from lab.machine.documents import section
from lab.machine.resource import Item, Kind
from lab.machine.services import services
from lab.schematic import kernel_arguments_in

if TYPE_CHECKING:
    from lab.machine.session import Session

# Where the configuration has the image of each, and the number of the field that its resource has it in.
_STATIC = {"kube-apiserver": ("apiServer", 1), "kube-controller-manager": ("controllerManager", 2)}
_STATIC |= {"kube-scheduler": ("scheduler", 2)}


def _services(session: "Session") -> Iterator[Item]:
    """Only those that run: one that stops is gone, and comes back when it starts again."""
    for service in services(session):
        if service.state == "Running":
            unknown = service.healthy is None
            shown = {"running": True, "healthy": bool(service.healthy), "unknown": unknown}
            yield Item(service.id, wire.message((1, True), (2, bool(service.healthy)), (3, unknown)), json.dumps(shown))


def _kubelet(session: "Session") -> Iterator[Item]:
    if session.cri:
        image = str(section(session.settings.machine.get("kubelet")).get("image", ""))
        yield Item("kubelet", wire.message((1, image)), json.dumps({"image": image}))


def _etcd_member(session: "Session") -> Iterator[Item]:
    if session.etcd and session.etcd.member:
        member = f"{session.etcd.member:016x}"
        yield Item("local", wire.message((1, member)), json.dumps({"memberID": member}))


def _cmdline(session: "Session") -> Iterator[Item]:
    machine = session.machine
    schematic = machine.world.registry.schematics.get(session.entry.schematic, "")
    line = " ".join((f"talos.platform={machine.hardware.platform}", *kernel_arguments_in(schematic)))
    yield Item("cmdline", wire.message((1, line)), json.dumps({"cmdline": line}))


def _config_of(name: str) -> "Callable[[Session], Iterator[Item]]":
    key, number = _STATIC[name]

    def items(session: "Session") -> Iterator[Item]:
        if session.cri and session.settings.is_control_plane:
            image = str(section(session.settings.cluster.get(key)).get("image", ""))
            enabled = ((1, True),) if number > 1 else ()
            yield Item(name, wire.message(*enabled, (number, image)), json.dumps({"image": image}))

    return items


SERVICES: tuple[Kind, ...] = (
    Kind("Services.v1alpha1.talos.dev", "runtime", ("svc",), _services),
    Kind("KubeletSpecs.kubernetes.talos.dev", "k8s", (), _kubelet),
    Kind("EtcdMembers.etcd.talos.dev", "etcd", (), _etcd_member),
    Kind("KernelCmdlines.runtime.talos.dev", "runtime", ("cmdline",), _cmdline),
    Kind("APIServerConfigs.kubernetes.talos.dev", "controlplane", (), _config_of("kube-apiserver")),
    Kind("ControllerManagerConfigs.kubernetes.talos.dev", "controlplane", (), _config_of("kube-controller-manager")),
    Kind("SchedulerConfigs.kubernetes.talos.dev", "controlplane", (), _config_of("kube-scheduler")),
)
