"""HealthCheck: what one control plane sees of the whole cluster, step by step, until all is well or time is up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from grpclib import GRPCError, Status

from lab.machine.dispatch import Call, Implementation
from lab.machine.gateway import EtcdError
from lab.machine.lifecycle import control_plane_only
from talosapi.gen.cluster_pb2 import HealthCheckProgress

if TYPE_CHECKING:
    from lab.machine.machine import Machine
    from lab.machine.session import Session

_POLL = 0.2  # real seconds between two looks
_SKIP = "SKIP"


class _Cluster:
    """The machines that are looked at, and the checks: each returns what is wrong, nothing when all is well."""

    def __init__(self, session: "Session", control_planes: list["Machine"], workers: list["Machine"]) -> None:
        self.session = session
        self.control_planes = control_planes
        self.machines = [*control_planes, *workers]

    async def etcd_healthy(self) -> str:
        bad = [machine for machine in self.control_planes if not (_up(machine) and _etcd_healthy(machine))]
        return _nodes(bad, "service is not healthy: etcd")

    async def etcd_consistent(self) -> str:
        lists = set()
        for machine in self.control_planes:
            etcd = machine.session.etcd if machine.session else None
            if etcd is None:
                return _nodes([machine], "etcd does not run")
            lists.add(tuple(sorted(member.name for member in await etcd.local().members())))
        return "" if len(lists) == 1 else "etcd member lists differ between nodes"

    async def etcd_members(self) -> str:
        etcd = self.session.etcd
        names = {machine.session.hostname for machine in self.control_planes if machine.session}
        strangers = [m.name for m in await etcd.cluster().members() if m.name not in names] if etcd else []
        return f"etcd members are not control plane nodes: {', '.join(strangers)}" if strangers else ""

    async def apid(self) -> str:
        bad = [machine for machine in self.machines if not _up(machine) or machine.fault("refuse")]
        return _nodes(bad, "the machine API does not answer")

    async def fine(self) -> str:
        return ""

    async def kubelet(self) -> str:
        bad = [machine for machine in self.machines if not (machine.session and machine.session.kubelet.running)]
        return _nodes(bad, "service is not healthy: kubelet")

    async def reported(self) -> str:
        kubeapi = self.session.kubeapi
        known = {node["metadata"]["name"] for node in await kubeapi.nodes.all()} if kubeapi else set()
        bad = [machine for machine in self.machines if machine.session and machine.session.hostname not in known]
        return _nodes(bad, "the node has not reported")

    async def api_servers(self) -> str:
        bad = [m for m in self.control_planes if not (m.session and m.session.kubeapi and m.session.kubeapi.running)]
        return _nodes(bad, "kube-apiserver is not ready")

    async def nodes_ready(self) -> str:
        if self.session.settings.cni == "none":
            return _SKIP
        bad = [machine for machine in self.machines if not (machine.session and machine.session.kubelet.joined)]
        return _nodes(bad, "the node is not ready")

    async def skipped(self) -> str:
        return _SKIP

    def checks(self) -> tuple[tuple[str, Callable[[], Awaitable[str]]], ...]:
        """Talos's checks in Talos's order; what has no counterpart in a simulated cluster passes or is skipped."""
        return (
            ("etcd to be healthy", self.etcd_healthy),
            ("etcd members to be consistent across nodes", self.etcd_consistent),
            ("etcd members to be control plane nodes", self.etcd_members),
            ("apid to be ready", self.apid),
            ("all nodes memory sizes", self.fine),
            ("all nodes disk sizes", self.fine),
            ("no diagnostics", self.fine),
            ("kubelet to be healthy", self.kubelet),
            ("all nodes to finish boot sequence", self.apid),
            ("all k8s nodes to report", self.reported),
            ("all control plane static pods to be running", self.api_servers),
            ("all control plane components to be ready", self.api_servers),
            ("all k8s nodes to report ready", self.nodes_ready),
            ("kube-proxy to report ready", self.skipped),
            ("coredns to report ready", self.skipped),
            ("all k8s nodes to report schedulable", self.fine),
        )


async def health_check(call: Call) -> AsyncIterator[HealthCheckProgress]:
    """Say what is waited for and what became of it; DeadlineExceeded when it takes longer than asked (real time)."""
    control_plane_only(call, "cluster health check")
    cluster = _cluster(call)
    found = ", ".join(f'"{machine.hardware.address}"' for machine in cluster.machines)
    yield HealthCheckProgress(message=f"discovered nodes: [{found}]")
    deadline = asyncio.get_running_loop().time() + (call.request.wait_timeout.ToTimedelta().total_seconds() or 1200.0)
    for name, check in cluster.checks():
        said = ""
        yield HealthCheckProgress(message=f"waiting for {name}: ...")
        while wrong := await _look(check):
            if wrong == _SKIP:
                break
            if wrong != said:
                said = wrong
                yield HealthCheckProgress(message=f"waiting for {name}: {wrong}")
            if asyncio.get_running_loop().time() > deadline:
                raise GRPCError(Status.DEADLINE_EXCEEDED, "context deadline exceeded")
            await asyncio.sleep(_POLL)
        yield HealthCheckProgress(message=f"waiting for {name}: {wrong or 'OK'}")


async def _look(check: Callable[[], Awaitable[str]]) -> str:
    try:
        return await check()
    except EtcdError as error:
        return str(error)


def _cluster(call: Call) -> _Cluster:
    world, info = call.session.machine.world, call.request.cluster_info
    if info.control_plane_nodes or info.worker_nodes:
        named = [[_named(call, ip) for ip in ips] for ips in (info.control_plane_nodes, info.worker_nodes)]
        return _Cluster(call.session, *named)
    known = [m for m in world.machines.values() if m.cluster == call.session.settings.cluster_key]
    control_planes = [machine for machine in known if machine.role == "controlplane"]
    return _Cluster(call.session, control_planes, [machine for machine in known if machine.role != "controlplane"])


def _named(call: Call, ip: str) -> "Machine":
    machine = call.session.machine.world.find(ip)
    if machine is None:
        raise GRPCError(Status.UNKNOWN, f"no machine answers at {ip}")
    return machine


def _up(machine: "Machine") -> bool:
    return machine.session is not None and machine.session.running


def _etcd_healthy(machine: "Machine") -> bool:
    session = machine.session
    return session is not None and session.etcd is not None and session.etcd.healthy


def _nodes(machines: list["Machine"], what: str) -> str:
    return f"{', '.join(machine.hardware.address for machine in machines)}: {what}" if machines else ""


HEALTH: Mapping[str, Implementation] = {"/cluster.ClusterService/HealthCheck": health_check}
