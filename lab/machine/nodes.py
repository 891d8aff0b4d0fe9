"""The Nodes of a small API server, kept in the real etcd."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lab.machine.gateway import EtcdError, Gateway

if TYPE_CHECKING:
    from lab.machine.session import Session

_PREFIX = "/registry/minions/"


class Nodes:
    """Reads and writes Nodes through this control plane's etcd; every method raises EtcdError."""

    def __init__(self, session: "Session") -> None:
        """Remember where etcd is."""
        self._session = session

    async def all(self) -> list[dict[str, Any]]:
        """Every Node, with its condition as of now."""
        stored = await self._etcd().range(_PREFIX)
        return [self._with_condition(json.loads(value)) for value in stored.values()]

    async def one(self, name: str) -> dict[str, Any] | None:
        """One Node."""
        stored = await self._etcd().get(_PREFIX + name)
        return self._with_condition(json.loads(stored)) if stored else None

    async def put(self, name: str, node: Mapping[str, Any]) -> None:
        """Register a Node; what others set on it stays: whether pods may come, and their annotations."""
        stored = await self._etcd().get(_PREFIX + name)
        before = json.loads(stored) if stored else {"metadata": {}, "spec": {}}
        unschedulable = {key: True for key in ("unschedulable",) if before["spec"].get(key)}
        annotations = {**before["metadata"].get("annotations", {}), **node["metadata"].get("annotations", {})}
        kept = {"spec": {**node["spec"], **unschedulable}, "metadata": {**node["metadata"], "annotations": annotations}}
        await self._etcd().put(_PREFIX + name, json.dumps({**node, **kept}).encode())

    async def patch(self, name: str, patch: Mapping[str, Any]) -> None:
        """Merge a patch into a Node; nothing happens to one that is not there."""
        if stored := await self._etcd().get(_PREFIX + name):
            await self._etcd().put(_PREFIX + name, json.dumps(_merge(json.loads(stored), patch)).encode())

    def _etcd(self) -> Gateway:
        if self._session.etcd is None:
            raise EtcdError("etcd does not run")
        return self._session.etcd.local()

    def _with_condition(self, node: dict[str, Any]) -> dict[str, Any]:
        name = node["metadata"]["name"]
        ready = any(
            peer.session.hostname == name and peer.session.kubelet.joined
            for peer in self._session.machine.world.peers(self._session.settings)
            if peer.session
        )
        status, reason = ("True", "KubeletReady") if ready else ("Unknown", "NodeStatusUnknown")
        if ready and self._session.settings.cni == "none":
            status, reason = "False", "KubeletNotReady"  # cni plugin not initialized
        node["status"]["conditions"] = [{"type": "Ready", "status": status, "reason": reason}]
        return node


def static_pods(session: "Session", app: str) -> list[dict[str, Any]]:
    """The pods of one control plane component, one on every control plane that runs."""
    pods = []
    for peer in session.machine.world.control_planes(session.settings):
        other = peer.session
        if other and other.kubeapi:
            ready = "True" if other.kubeapi.running else "False"
            name = f"{app}-{other.hostname}"
            metadata = {"name": name, "namespace": "kube-system", "labels": {"k8s-app": app}}
            status = {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}
            pods.append({"metadata": metadata, "spec": {"nodeName": other.hostname}, "status": status})
    return pods


def _merge(old: Any, patch: Any) -> Any:
    if not isinstance(old, dict) or not isinstance(patch, dict):
        return patch
    merged = {**old, **{key: _merge(old.get(key), value) for key, value in patch.items()}}
    return {key: value for key, value in merged.items() if value is not None}
