"""Talking to a real etcd through its JSON gateway, with the certificates of the configuration."""

import asyncio
import base64
import json
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.machine.web import Answer, ask

CLIENT_PORT = 2379
PEER_PORT = 2380
_TIMEOUT = 5.0  # real seconds: etcd keeps real time


class EtcdError(Exception):
    """etcd refused a call, or no endpoint answered: ``code`` is the gRPC code, 14 when none answered."""

    def __init__(self, message: str, code: int = 14) -> None:
        """Keep etcd's own words."""
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Member:
    """One member of an etcd cluster."""

    id: int
    name: str
    peer_urls: tuple[str, ...]
    client_urls: tuple[str, ...]
    is_learner: bool


class Gateway:
    """Calls to the etcd members at ``hosts``, the first that answers counts; raises EtcdError."""

    def __init__(self, hosts: Sequence[str], context: ssl.SSLContext) -> None:
        """Remember where the members are."""
        self.hosts = tuple(hosts)
        self._context = context

    async def call(self, path: str, body: Mapping[str, Any] | None = None, seconds: float = _TIMEOUT) -> dict[str, Any]:
        """One call with one answer."""
        return _json(await self._post(path, body or {}, seconds))

    async def members(self, *, local: bool = False) -> tuple[Member, ...]:
        """The members, as agreed by a majority unless ``local``."""
        answer = await self.call("/v3/cluster/member/list", {"linearizable": not local})
        return tuple(_member(member) for member in answer.get("members", ()))

    async def add_learner(self, peer_url: str) -> int:
        """Add a member that does not vote yet; returns its id."""
        answer = await self.call("/v3/cluster/member/add", {"peerURLs": [peer_url], "isLearner": True})
        return int(answer["member"]["ID"])

    async def promote(self, member: int) -> None:
        """Let a learner vote; refused until it has caught up."""
        await self.call("/v3/cluster/member/promote", {"ID": str(member)})

    async def remove(self, member: int) -> None:
        """Take a member out of the cluster."""
        await self.call("/v3/cluster/member/remove", {"ID": str(member)})

    async def status(self) -> dict[str, Any]:
        """What one member says of itself."""
        return await self.call("/v3/maintenance/status")

    async def move_leader(self, target: int) -> None:
        """Give the lead to another member; only the leader can."""
        await self.call("/v3/maintenance/transfer-leadership", {"targetID": str(target)})

    async def defragment(self) -> None:
        """Give back the space that deleted values took; the member answers nobody meanwhile."""
        await self.call("/v3/maintenance/defragment", seconds=60.0)

    async def alarms(self, *, disarm: bool = False) -> tuple[tuple[int, str], ...]:
        """The alarms of all members, by member id; ``disarm`` ends them."""
        raised = (await self.call("/v3/maintenance/alarm", {"action": "GET"})).get("alarms", ())
        if disarm:
            for alarm in raised:
                await self.call("/v3/maintenance/alarm", {"action": "DEACTIVATE", **alarm})
        return tuple((int(alarm["memberID"]), str(alarm["alarm"])) for alarm in raised)

    async def snapshot(self) -> bytes:
        """A snapshot of the database."""
        answer = await self._post("/v3/maintenance/snapshot", {}, 60.0)
        blobs = (json.loads(line)["result"].get("blob", "") for line in answer.body.splitlines() if line.strip())
        return b"".join(base64.b64decode(blob) for blob in blobs)

    async def healthy(self) -> bool:
        """Whether a majority answers a read."""
        try:
            await self.get("health")
        except EtcdError:
            return False
        return True

    async def get(self, key: str) -> bytes | None:
        """One value."""
        found = (await self.call("/v3/kv/range", {"key": text(key)})).get("kvs", ())
        return base64.b64decode(found[0].get("value", "")) if found else None

    async def range(self, prefix: str) -> dict[str, bytes]:
        """Every key that starts with ``prefix`` (which ends in a slash), with its value."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        found = (await self.call("/v3/kv/range", {"key": text(prefix), "range_end": text(end)})).get("kvs", ())
        return {base64.b64decode(kv["key"]).decode(): base64.b64decode(kv.get("value", "")) for kv in found}

    async def put(self, key: str, value: bytes, lease: str = "0") -> None:
        """Write one value, under a lease or for good."""
        await self.call("/v3/kv/put", {"key": text(key), "value": base64.b64encode(value).decode(), "lease": lease})

    async def delete(self, key: str) -> None:
        """Delete one key."""
        await self.call("/v3/kv/deleterange", {"key": text(key)})

    async def claim(self, key: str, value: str, lease: str) -> str:
        """Write ``value`` unless the key exists; returns the value it has then."""
        wanted = {"key": text(key), "value": text(value), "lease": lease}
        body = {
            "compare": [{"key": text(key), "target": "CREATE", "create_revision": "0"}],
            "success": [{"request_put": wanted}],
            "failure": [{"request_range": {"key": text(key)}}],
        }
        answer = await self.call("/v3/kv/txn", body)
        if answer.get("succeeded"):
            return value
        found = answer["responses"][0]["response_range"].get("kvs", ())
        return base64.b64decode(found[0].get("value", "")).decode() if found else ""

    async def _post(self, path: str, body: Mapping[str, Any], seconds: float) -> Answer:
        problem = EtcdError("no etcd endpoint is known")
        for host in self.hosts:
            try:
                answer = await ask(host, CLIENT_PORT, self._context, path, method="POST", body=body, timeout=seconds)
            except (OSError, TimeoutError, asyncio.CancelledError) as error:
                if isinstance(error, asyncio.CancelledError):
                    raise
                problem = EtcdError(f"etcd at {host}:{CLIENT_PORT} does not answer ({type(error).__name__})")
                continue
            if answer.status == 200:
                return answer
            problem = _refusal(answer)
        raise problem


def text(value: str) -> str:
    """Text as the gateway wants bytes: base64."""
    return base64.b64encode(value.encode()).decode()


def _json(answer: Answer) -> dict[str, Any]:
    value = answer.json()
    return value if isinstance(value, dict) else {}


def _refusal(answer: Answer) -> EtcdError:
    try:
        said = answer.json()
        return EtcdError(str(said.get("message") or said.get("error")), int(said.get("code", 2)))
    except (ValueError, AttributeError):
        return EtcdError(f"etcd answered with HTTP status {answer.status}", 2)


def _member(raw: Mapping[str, Any]) -> Member:
    return Member(
        int(raw["ID"]),
        str(raw.get("name", "")),
        tuple(raw.get("peerURLs", ())),
        tuple(raw.get("clientURLs", ())),
        bool(raw.get("isLearner", False)),
    )
