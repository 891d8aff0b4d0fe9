"""Moving the pods of a Node away by evictions, which respect disruption budgets."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from kubeapi.client import Client, KubernetesError

_MIRROR = "kubernetes.io/config.mirror"
_OVER = frozenset({"Succeeded", "Failed"})
_PAUSE = 1.0  # seconds between two looks


@dataclass(frozen=True)
class Pod:
    """A pod that has to go. Another pod of the same name is told from it by its ``uid``."""

    namespace: str
    name: str
    uid: str

    def __str__(self) -> str:
        """namespace/name."""
        return f"{self.namespace}/{self.name}"


class DrainError(Exception):
    """Pods that did not go in time: by name, each with what holds it."""

    def __init__(self, node: str, waited: float, held: Mapping[str, str]) -> None:
        """Keep what is told: ``waited`` is in seconds, ``held`` the reasons by pod."""
        self.held = held
        pods = "; ".join(f"{pod}: {why}" for pod, why in sorted(held.items()))
        super().__init__(f"{node}: pods are still on it after {waited:.0f} s: {pods}")


async def drain(
    client: Client, node: str, *, timeout: float, report: Callable[[str], None] = lambda _: None, pause: float = _PAUSE
) -> None:
    """Evict every pod of a cordoned Node and wait until all are gone; times are in seconds.

    Pods of DaemonSets and static pods stay, and those that have ended. A budget that allows no eviction now is asked
    again until the time is up. Raises DrainError, and KubernetesError where the API fails for good.
    """
    clock = asyncio.get_running_loop().time
    start, told = clock(), ""
    while True:
        held = await _round(client, node)
        if not held:
            return
        words = f"{node}: waiting for {len(held)} pod{'' if len(held) == 1 else 's'} to go: {_few(held)}"
        if words != told:
            report(words)
            told = words
        if clock() - start + pause > timeout:
            raise DrainError(node, clock() - start, held)
        await asyncio.sleep(pause)


async def _round(client: Client, node: str) -> dict[str, str]:
    """Evict what is there; return what is left by pod, each with what holds it."""
    try:
        pods = await _pods(client, node)
    except KubernetesError as error:
        if error.status is not None:
            raise
        return {"its pods": error.said}  # an API server may be away for a moment
    results = await asyncio.gather(*(_evict(client, pod) for pod in pods))
    return {str(pod): held for pod, held in zip(pods, results, strict=True) if held}


async def _pods(client: Client, node: str) -> list[Pod]:
    found = await client.get("/api/v1/pods", fieldSelector=f"spec.nodeName={node}")
    return [
        Pod(each["metadata"]["namespace"], each["metadata"]["name"], each["metadata"].get("uid", ""))
        for each in found["items"]
        if _has_to_go(each) and each["spec"].get("nodeName") == node
    ]


def _has_to_go(pod: Mapping[str, Any]) -> bool:
    metadata = pod["metadata"]
    owners = metadata.get("ownerReferences") or ()
    return not (
        _MIRROR in (metadata.get("annotations") or {})
        or any(owner.get("controller") and owner["kind"] in {"DaemonSet", "Node"} for owner in owners)
        or (pod.get("status") or {}).get("phase") in _OVER
    )


async def _evict(client: Client, pod: Pod) -> str:
    """Ask for an eviction; return what holds the pod, empty where it is gone."""
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"namespace": pod.namespace, "name": pod.name},
        "deleteOptions": {"preconditions": {"uid": pod.uid}} if pod.uid else {},
    }
    try:
        await client.post(f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/eviction", eviction)
    except KubernetesError as error:
        if error.status in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:
            return ""
        if error.status is None or error.status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.INTERNAL_SERVER_ERROR}:
            return error.said
        raise
    return "is ending"


def _few(held: Mapping[str, str]) -> str:
    names = sorted(held)
    return ", ".join(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"])
