"""A small kube-apiserver: health, version and nodes, kept in the real etcd."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

from lab.machine import durations
from lab.machine.gateway import EtcdError
from lab.machine.kubelet import API_PORT
from lab.machine.pki import SERVER, server_context
from lab.machine.web import Answer, Request, WebServer

if TYPE_CHECKING:
    from lab.machine.session import Session

_NODES = "/registry/minions/"
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

    async def nodes(self) -> list[dict[str, Any]]:
        """The registered nodes with their conditions; raises EtcdError."""
        etcd = self._session.etcd
        if etcd is None:
            raise EtcdError("etcd does not run")
        stored = await etcd.local().range(_NODES)
        return [self._with_condition(json.loads(value)) for value in stored.values()]

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
            if request.method == "PUT" and path.startswith("/api/v1/nodes/"):
                return await self._register(request, path)
            if not request.name:
                return _status(401, "Unauthorized")
            if path in ("/readyz", "/livez", "/healthz"):
                return await self._health(path)
            if path == "/version":
                version = self._session.settings.kubernetes_version
                major, minor = version.lstrip("v").split(".")[:2]
                return Answer.of({"major": major, "minor": minor, "gitVersion": version, "platform": "linux/amd64"})
            return await self._read(path, request)
        except EtcdError as error:
            return _status(500, str(error))

    async def _health(self, path: str) -> Answer:
        if path == "/livez" or await self.ready():
            return Answer(200, b"ok", "text/plain; charset=utf-8")
        return Answer(500, b"[-]etcd failed: reason withheld\nreadyz check failed\n", "text/plain; charset=utf-8")

    async def _read(self, path: str, request: Request) -> Answer:
        if _ADMIN not in request.organizations:
            return _status(403, f"User {request.name!r} cannot read at the cluster scope")
        if path == "/api/v1/nodes":
            return Answer.of({"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": await self.nodes()})
        if path.startswith("/api/v1/nodes/"):
            name = path.rpartition("/")[2]
            found = [node for node in await self.nodes() if node["metadata"]["name"] == name]
            return Answer.of(found[0]) if found else _status(404, f'nodes "{name}" not found')
        return _status(404, "the server could not find the requested resource")

    async def _register(self, request: Request, path: str) -> Answer:
        token = str(self._session.settings.cluster.get("token", ""))
        etcd = self._session.etcd
        if request.headers.get("authorization") != f"Bearer {token}" or etcd is None:
            return _status(401, "Unauthorized")
        await etcd.local().put(_NODES + path.rpartition("/")[2], request.body)
        return Answer.of({})

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


def _status(code: int, message: str) -> Answer:
    reasons = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound"}
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
    return Answer.of({**body, "reason": reasons.get(code, "InternalError")}, code)
