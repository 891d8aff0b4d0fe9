"""A small kube-apiserver: health, version and nodes, kept in the real etcd."""

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from lab.machine import durations, kube_nodes, kube_table
from lab.machine.gateway import EtcdError
from lab.machine.kube_discovery import DISCOVERY
from lab.machine.kubelet import API_PORT
from lab.machine.kubernetes_resources import STATIC_PODS
from lab.machine.nodes import Nodes, static_pods
from lab.machine.pki import SERVER, server_context
from lab.machine.web import Answer, Request, WebServer

if TYPE_CHECKING:
    from lab.machine.session import Session

_NODES = "/api/v1/nodes"
_NODE = f"{_NODES}/"
_SYSTEM = "namespaces/kube-system"
_LISTS = {
    _NODES: "NodeList",
    "/api/v1/pods": "PodList",
    f"/api/v1/{_SYSTEM}/pods": "PodList",
    f"/apis/apps/v1/{_SYSTEM}/daemonsets": "DaemonSetList",
    f"/apis/apps/v1/{_SYSTEM}/deployments": "DeploymentList",
}
_ADMIN = "system:masters"


class KubeApi:
    """One control plane's API server: on its own address, and on a shared one while it is held here.

    Takes client certificates of the cluster's authority and the bootstrap token for registering a Node; anonymous
    calls are refused, as Talos configures it. Ready only while etcd answers.
    """

    def __init__(self, session: "Session") -> None:
        """Nothing listens yet."""
        self._session = session
        self._web = WebServer(self._serve)
        self._shared: dict[str, asyncio.Server] = {}
        self.running = False
        self.nodes = Nodes(session)

    async def run(self) -> None:
        """Wait for etcd, then listen."""
        session = self._session
        while not (session.etcd and session.etcd.healthy and session.kubelet.running):
            await session.machine.world.clock.sleep(1.0, at_least=0.1)
        await session.machine.world.clock.sleep(durations.API_SERVER)
        while not self.running:
            self.running = await self._listen(session.address) is not None
            if not self.running:
                await session.machine.world.clock.sleep(durations.RETRY, at_least=0.5)
        session.machine.record("apiserver-up")

    async def hold(self, ip: str) -> bool:
        """Serve a shared address too; false while that cannot be."""
        if ip in self._shared:
            return True
        server = await self._listen(ip) if self.running else None
        if server:
            self._shared[ip] = server
        return server is not None

    def release(self, ip: str) -> None:
        """Stop serving a shared address."""
        if server := self._shared.pop(ip, None):
            server.close()

    def close(self) -> None:
        """Stop, and cut every connection."""
        self.running = False
        self._shared.clear()
        self._web.close()

    async def ready(self) -> bool:
        """Whether it would answer /readyz with ok."""
        etcd = self._session.etcd
        try:
            return self.running and etcd is not None and await etcd.local().healthy()
        except EtcdError:
            return False

    async def _listen(self, address: str) -> asyncio.Server | None:
        settings = self._session.settings
        names = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost", "127.0.0.1")
        hosts = dict.fromkeys(
            (
                *names,
                self._session.hostname,
                self._session.address,
                settings.endpoint[0],
                *settings.api_sans,
                *settings.vips,
            )
        )
        pair = settings.kubernetes_ca.issue("kube-apiserver", [SERVER], hosts=[host for host in hosts if host])
        try:
            return await self._web.listen(address, API_PORT, server_context(pair, settings.kubernetes_ca.crt))
        except OSError:
            return None

    async def _serve(self, request: Request) -> Answer:
        path = request.path.partition("?")[0]
        try:
            if request.method == "PUT" and path.startswith(_NODE):
                return await self._register(request, path.removeprefix(_NODE))
            if not request.name:
                return _status(401, "Unauthorized")
            if path in ("/readyz", "/livez", "/healthz"):
                return await self._health(path)
            if path == "/version":
                version = self._session.settings.kubernetes_version
                major, minor = version.lstrip("v").split(".")[:2]
                return Answer.of({"major": major, "minor": minor, "gitVersion": version, "platform": "linux/amd64"})
            if path in DISCOVERY:
                return Answer.of(DISCOVERY[path])
            return await self._read(path, request)
        except EtcdError as error:
            return _status(500, str(error))
        except (ValueError, KeyError, TypeError):
            return _status(400, "the body is not what was expected")

    async def _health(self, path: str) -> Answer:
        if path == "/livez" or await self.ready():
            return Answer(200, b"ok", "text/plain; charset=utf-8")
        return Answer(500, b"[-]etcd failed: reason withheld\nreadyz check failed\n", "text/plain; charset=utf-8")

    async def _read(self, path: str, request: Request) -> Answer:
        if _ADMIN not in request.organizations:
            return _status(403, f"User {request.name!r} cannot read at the cluster scope")
        if path in _LISTS:
            version = "apps/v1" if path.startswith("/apis/apps") else "v1"
            query = {key: values[0] for key, values in parse_qs(urlsplit(request.path).query).items()}
            if path == _NODES and (told := kube_nodes.not_simulated(query)):
                return _status(400, told)
            items = await self._items(path, query.get("labelSelector", ""))
            if path == _NODES and kube_table.wanted(request.headers):
                return Answer.of(kube_table.nodes_table(items))
            return Answer.of({"kind": _LISTS[path], "apiVersion": version, "metadata": {}, "items": items})
        if path.startswith(_NODE) and request.method in ("GET", "PATCH"):
            name = path.removeprefix(_NODE)
            if request.method == "PATCH":
                await self.nodes.patch(name, json.loads(request.body))
            node = await self.nodes.one(name)
            if node and kube_table.wanted(request.headers):
                return Answer.of(kube_table.nodes_table([node]))
            return Answer.of(node) if node else _status(404, f'nodes "{name}" not found')
        return _status(404, "the server could not find the requested resource")

    async def _items(self, path: str, selector: str) -> list[dict[str, Any]]:
        if path == _NODES:
            return [node for node in await self.nodes.all() if kube_nodes.matches(node, selector)]
        app = selector.replace(" ", "").removeprefix("k8s-app=")
        return static_pods(self._session, app) if path.endswith("/pods") and app in STATIC_PODS else []

    async def _register(self, request: Request, name: str) -> Answer:
        token = str(self._session.settings.cluster.get("token", ""))
        if request.headers.get("authorization") != f"Bearer {token}":
            return _status(401, "Unauthorized")
        node, before = json.loads(request.body), await self.nodes.one(name)
        created = before["metadata"].get("creationTimestamp") if before else None
        node["metadata"]["creationTimestamp"] = created or kube_table.timestamp()
        await self.nodes.put(name, node)
        return Answer.of({})


def _status(code: int, message: str) -> Answer:
    reasons = {400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound"}
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
    return Answer.of({**body, "reason": reasons.get(code, "InternalError")}, code)
