"""The kubelet of a simulated machine: it joins the cluster when an API server takes it."""

import contextlib
import ipaddress
from typing import TYPE_CHECKING, Any

from lab.machine import durations
from lab.machine.pki import client_context
from lab.machine.web import ask

if TYPE_CHECKING:
    from lab.machine.session import Session

API_PORT = 6443


class Kubelet:
    """Registers its Node once per boot. Owns whether the kubelet runs and whether it joined."""

    def __init__(self, session: "Session") -> None:
        """Nothing runs yet."""
        self._session = session
        self.running = False
        self.joined = False

    async def run(self) -> None:
        """Start, then try until the cluster takes the node."""
        session = self._session
        await session.machine.world.clock.sleep(durations.KUBELET)
        self.running = True
        context = client_context(session.settings.kubernetes_ca.crt)
        token = str(session.settings.cluster.get("token", ""))
        while not self.joined:
            for host, port in self._servers():
                with contextlib.suppress(OSError, TimeoutError):
                    path = f"/api/v1/nodes/{session.hostname}"
                    headers = {"Authorization": f"Bearer {token}"}
                    answer = await ask(host, port, context, path, method="PUT", body=self.node(), headers=headers)
                    if answer.status == 200:
                        self.joined = True
                        session.machine.record("kubelet-joined", via=f"{host}:{port}")
                        break
            else:
                await session.machine.world.clock.sleep(durations.RETRY, at_least=0.2)

    def stop(self) -> None:
        """It runs no more; whoever started ``run`` has cancelled it."""
        self.running = self.joined = False

    def node(self) -> dict[str, Any]:
        """The Node it registers."""
        session = self._session
        labels = {
            "kubernetes.io/hostname": session.hostname,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
        }
        if session.settings.is_control_plane:
            labels["node-role.kubernetes.io/control-plane"] = ""
        addresses = [("InternalIP", session.address), ("Hostname", session.hostname)]
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": session.hostname, "labels": {**labels, **_labels(session.settings.machine)}},
            "spec": {"taints": _taints(session)},
            "status": {
                "addresses": [{"type": kind, "address": value} for kind, value in addresses],
                "nodeInfo": {
                    "kubeletVersion": session.settings.kubernetes_version,
                    "osImage": f"Talos ({session.entry.version})",
                },
            },
        }

    def _servers(self) -> list[tuple[str, int]]:
        session = self._session
        servers = [session.settings.endpoint]
        if session.settings.is_control_plane:
            servers.insert(0, (session.address, API_PORT))
        if session.settings.kube_prism and session.settings.discovery:
            peers = session.machine.world.control_planes(session.settings)
            servers += [(peer.session.address, API_PORT) for peer in peers if peer.session]
        return [server for server in dict.fromkeys(servers) if _is_address(server[0])] or servers


def _labels(machine: Any) -> dict[str, str]:
    return {str(key): str(value) for key, value in (machine.get("nodeLabels") or {}).items()}


def _taints(session: "Session") -> list[dict[str, str]]:
    allowed = session.settings.cluster.get("allowSchedulingOnControlPlanes", False)
    if not session.settings.is_control_plane or allowed:
        return []
    return [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]


def _is_address(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False
