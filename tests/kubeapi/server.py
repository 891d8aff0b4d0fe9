"""A small, strict Kubernetes API in this process: Nodes, pods, and evictions under a budget."""

import json
import ssl
from dataclasses import dataclass, field
from typing import Any

import httpx

from kubeapi import Client

Json = dict[str, Any]
URL = "https://127.0.0.1:6443"


def node(name: str, address: str, **metadata: Any) -> Json:
    status = {
        "addresses": [{"type": "InternalIP", "address": address}],
        "conditions": [{"type": "Ready", "status": "True"}],
        "nodeInfo": {"kubeletVersion": "v1.36.2"},
    }
    return {"metadata": {"name": name, **metadata}, "spec": {}, "status": status}


def pod(name: str, on: str, owner: str = "ReplicaSet", **metadata: Any) -> Json:
    owners = [{"kind": owner, "name": "it", "controller": True}] if owner else []
    return {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "ownerReferences": owners, **metadata},
        "spec": {"nodeName": on},
        "status": {"phase": "Running"},
    }


@dataclass
class Api:
    """``budget``: how many more evictions are allowed, None for any number. ``fails``: calls answered with 503 yet."""

    nodes: dict[str, Json] = field(default_factory=dict)
    pods: list[Json] = field(default_factory=list)
    budget: int | None = None
    fails: int = 0
    evicted: list[str] = field(default_factory=list)

    def client(self) -> Client:
        """Return a client of this server."""
        client = Client(URL, ssl.create_default_context())
        client._http = httpx.AsyncClient(transport=httpx.MockTransport(self._answer), base_url=URL)
        return client

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if self.fails:
            self.fails -= 1
            raise httpx.ConnectError("connection refused")
        match request.method, request.url.path.strip("/").split("/"):
            case "GET", ["api", "v1", "nodes"]:
                return httpx.Response(200, json={"items": list(self.nodes.values())})
            case "PATCH", ["api", "v1", "nodes", name]:
                assert request.headers["content-type"] == "application/merge-patch+json"
                return self._patched(name, json.loads(request.content))
            case "GET", ["api", "v1", "pods"]:
                wanted = request.url.params["fieldSelector"].removeprefix("spec.nodeName=")
                return httpx.Response(200, json={"items": [p for p in self.pods if p["spec"]["nodeName"] == wanted]})
            case "POST", ["api", "v1", "namespaces", _, "pods", name, "eviction"]:
                return self._evicted(name, json.loads(request.content))
        return _status(404, "the server could not find the requested resource")

    def _patched(self, name: str, patch: Json) -> httpx.Response:
        if name not in self.nodes:
            return _status(404, f'nodes "{name}" not found')
        self.nodes[name] = _merge(self.nodes[name], patch)
        return httpx.Response(200, json=self.nodes[name])

    def _evicted(self, name: str, eviction: Json) -> httpx.Response:
        found = next((p for p in self.pods if p["metadata"]["name"] == name), None)
        if found is None:
            return _status(404, f'pods "{name}" not found')
        if eviction["deleteOptions"]["preconditions"]["uid"] != found["metadata"]["uid"]:
            return _status(409, "the UID in the precondition does not match")
        if self.budget == 0:
            return _status(429, "Cannot evict pod as it would violate the pod's disruption budget.")
        self.budget = None if self.budget is None else self.budget - 1
        self.evicted.append(name)
        self.pods.remove(found)
        return httpx.Response(201, json={"kind": "Status", "status": "Success"})


def _status(code: int, message: str) -> httpx.Response:
    return httpx.Response(code, json={"kind": "Status", "message": message, "code": code})


def _merge(old: Any, patch: Any) -> Any:
    if not isinstance(old, dict) or not isinstance(patch, dict):
        return patch
    merged = {**old, **{key: _merge(old.get(key, {}), value) for key, value in patch.items()}}
    return {key: value for key, value in merged.items() if value is not None}
