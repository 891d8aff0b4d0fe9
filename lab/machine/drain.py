"""What Talos itself does with its Node: cordon and drain it before it goes down, and uncordon it when it is back."""

import ssl
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lab.machine.kubelet import API_PORT
from lab.machine.pki import CLIENT, client_context
from lab.machine.web import Answer, ask

if TYPE_CHECKING:
    from lab.machine.session import Session

_MARK = "talos.dev/cordoned"
_MIRROR = "kubernetes.io/config.mirror"
_MERGE = {"content-type": "application/merge-patch+json"}
_JSON = {"content-type": "application/json"}
_CORDON, _DRAIN, _PAUSE = 60.0, 300.0, 5.0  # simulated seconds
_POLL = 0.2  # real seconds at least between two calls
_GRACE = 60  # seconds that a pod gets


async def cordon(session: "Session") -> bool:
    """Cordon the Node and mark that it was Talos; one that somebody else cordoned is left alone. False without an API.

    A machine whose kubelet never joined has nothing to cordon.
    """
    if not session.kubelet.joined:
        return True
    for _ in range(int(_CORDON / _PAUSE)):
        if (node := await _node(session)) and (_cordoned(node) or await _mark(session, cordoned=True)):
            session.machine.record("cordoned")
            return True
        await session.machine.world.clock.sleep(_PAUSE, at_least=_POLL)
    return False


async def drain(session: "Session") -> None:
    """Evict what can be evicted and wait for it; what a budget keeps is left, for the reboot comes all the same."""
    clock = session.machine.world.clock
    for _ in range(int(_DRAIN / _PAUSE)):
        listed = await _ask(session, f"/api/v1/pods?fieldSelector=spec.nodeName={session.hostname}")
        pods = [pod["metadata"] for pod in listed.json().get("items", ())] if listed and listed.status == 200 else []
        if not (left := [metadata for metadata in pods if _evictable(metadata)]):
            return
        for metadata in left:
            place = {"name": metadata["name"], "namespace": metadata["namespace"]}
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": place}
            path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/eviction"
            await _ask(session, path, "POST", {**eviction, "deleteOptions": {"gracePeriodSeconds": _GRACE}}, _JSON)
        await clock.sleep(_PAUSE, at_least=_POLL)
    session.machine.record("drain-failed", pods=[metadata["name"] for metadata in left])


async def uncordon(session: "Session") -> None:
    """Take a cordon back that Talos made itself, as soon as the Node is there."""
    clock = session.machine.world.clock
    while not session.kubelet.joined or (node := await _node(session)) is None:
        await clock.sleep(_PAUSE, at_least=_POLL)
    if _MARK in node["metadata"].get("annotations", {}) and await _mark(session, cordoned=False):
        session.machine.record("uncordoned")


def _cordoned(node: Mapping[str, Any]) -> bool:
    return bool(node["spec"].get("unschedulable"))


def _evictable(metadata: Mapping[str, Any]) -> bool:
    owners = metadata.get("ownerReferences") or ()
    mirrored = _MIRROR in (metadata.get("annotations") or {})
    return bool(owners) and not mirrored and all(owner.get("kind") != "DaemonSet" for owner in owners)


async def _node(session: "Session") -> dict[str, Any] | None:
    answer = await _ask(session, f"/api/v1/nodes/{session.hostname}")
    return dict(answer.json()) if answer and answer.status == 200 else None


async def _mark(session: "Session", *, cordoned: bool) -> bool:
    value = "true" if cordoned else None
    patch = {"metadata": {"annotations": {_MARK: value}}, "spec": {"unschedulable": cordoned or None}}
    answer = await _ask(session, f"/api/v1/nodes/{session.hostname}", "PATCH", patch, _MERGE)
    return answer is not None and answer.status == 200


async def _ask(
    session: "Session", path: str, method: str = "GET", body: object = None, headers: Mapping[str, str] | None = None
) -> Answer | None:
    for address, context in _servers(session):
        try:
            return await ask(address, API_PORT, context, path, method=method, body=body, headers=headers)
        except (OSError, TimeoutError):
            continue
    return None


def _servers(session: "Session") -> Iterator[tuple[str, ssl.SSLContext]]:
    for peer in session.machine.world.control_planes(session.settings):
        if peer.session:
            authority = peer.session.settings.kubernetes_ca
            pair = authority.issue("talos", [CLIENT], organizations=["system:masters"])
            yield peer.session.address, client_context(authority.crt, pair)
