"""What the small API server says that it serves: kubectl asks before anything else. It serves Nodes, nothing more."""

from collections.abc import Mapping
from typing import Any

_NODES = {
    "name": "nodes",
    "singularName": "node",
    "shortNames": ["no"],
    "namespaced": False,
    "kind": "Node",
    "verbs": ["get", "list", "patch"],
}
DISCOVERY: Mapping[str, Mapping[str, Any]] = {
    "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [_NODES]},
}
"""Documents by path, in the form that is not aggregated: clients take it where they are offered no other."""
