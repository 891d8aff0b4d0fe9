"""Nodes as the table that ``kubectl get nodes`` prints: the API server makes it, with the columns of the real one."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

_ROLE = "node-role.kubernetes.io/"
_COLUMNS = ("Name", "Status", "Roles", "Age", "Version")
_WIDE = ("Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime")
"""Shown with ``-o wide`` only."""
_AGES = ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "m"))


def wanted(headers: Mapping[str, str]) -> bool:
    """Tell whether a client asks for a table."""
    return "as=Table" in headers.get("accept", "")


def nodes_table(nodes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return Nodes as a Table of meta.k8s.io/v1."""
    columns = [(name, 0) for name in _COLUMNS] + [(name, 1) for name in _WIDE]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {},
        "columnDefinitions": [
            {"name": name, "type": "string", "format": "name" if name == "Name" else "", "priority": priority}
            for name, priority in columns
        ],
        "rows": [{"cells": _cells(node), "object": _partial(node)} for node in nodes],
    }


def timestamp() -> str:
    """Return now as Kubernetes writes it. It is real time: that of kubectl, which works out the age."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _cells(node: Mapping[str, Any]) -> list[str]:
    metadata, status, info = node["metadata"], node["status"], node["status"].get("nodeInfo", {})
    return [
        metadata["name"],
        _status(node),
        ",".join(sorted(label.removeprefix(_ROLE) for label in metadata["labels"] if label.startswith(_ROLE)))
        or "<none>",
        _age(metadata.get("creationTimestamp")),
        info.get("kubeletVersion", "<unknown>"),
        next((each["address"] for each in status["addresses"] if each["type"] == "InternalIP"), "<none>"),
        "<none>",
        info.get("osImage", "<unknown>"),
        "<unknown>",
        "<unknown>",
    ]


def _status(node: Mapping[str, Any]) -> str:
    ready = next((each["status"] for each in node["status"]["conditions"] if each["type"] == "Ready"), "Unknown")
    cordoned = ",SchedulingDisabled" if node["spec"].get("unschedulable") else ""
    return ("Ready" if ready == "True" else "NotReady") + cordoned


def _age(created: str | None) -> str:
    if not created:
        return "<unknown>"
    age = datetime.now(UTC) - datetime.fromisoformat(created)
    return next((f"{age // unit}{letter}" for unit, letter in _AGES if age >= 2 * unit), f"{int(age.total_seconds())}s")


def _partial(node: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": node["metadata"]}
