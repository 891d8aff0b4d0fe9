"""Nodes: finding one by a machine's address, cordons that have an owner, and annotations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from kubeapi.client import Client, KubernetesError

_NODES = "/api/v1/nodes"


@dataclass(frozen=True)
class Node:
    """A Node as far as this project looks at it. ``unschedulable``: it is cordoned, by whomever."""

    name: str
    addresses: frozenset[str]
    annotations: Mapping[str, str]
    unschedulable: bool
    ready: bool
    kubelet: str

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> "Node":
        """Take what the API says."""
        metadata, status = found["metadata"], found.get("status") or {}
        return cls(
            metadata["name"],
            frozenset(address["address"] for address in status.get("addresses") or ()),
            dict(metadata.get("annotations") or {}),
            bool((found.get("spec") or {}).get("unschedulable")),
            any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions") or ()),
            str((status.get("nodeInfo") or {}).get("kubeletVersion", "")),
        )


async def nodes(client: Client) -> Iterator[Node]:
    """Return all Nodes."""
    return map(Node.of, (await client.get(_NODES))["items"])


async def node_at(client: Client, address: str, name: str) -> Node | None:
    """Return the Node of the machine at an address, else the one of that name, None without either."""
    found = list(await nodes(client))
    by_address = [node for node in found if address in node.addresses]
    return next(iter([*by_address, *(node for node in found if node.name == name)]), None)


async def annotate(client: Client, name: str, annotations: Mapping[str, str | None]) -> None:
    """Set annotations of a Node; None takes one away."""
    await client.merge(f"{_NODES}/{name}", {"metadata": {"annotations": dict(annotations)}})


async def cordon(client: Client, name: str, owner: str) -> None:
    """Let no new pods come to a Node, and note with the annotation ``owner`` that it was us."""
    patch = {"metadata": {"annotations": {owner: "true"}}, "spec": {"unschedulable": True}}
    await client.merge(f"{_NODES}/{name}", patch)


async def uncordon(client: Client, name: str, owner: str) -> None:
    """Let pods come again, and forget who cordoned it. A Node that is gone needs nothing."""
    patch = {"metadata": {"annotations": {owner: None}}, "spec": {"unschedulable": None}}
    try:
        await client.merge(f"{_NODES}/{name}", patch)
    except KubernetesError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
