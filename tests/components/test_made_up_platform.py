"""A platform nobody has: its classes and a line in each table bring a cluster up, in Pulumi's mocks."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pytest

from components.edits import Words
from components.nodes import PLATFORMS as COMPONENTS
from components.nodes.shape import NodeArgs, NodeComponent, PlatformArgs, ProvisionedNode
from tests.components.mocked import registered
from tests.topology.test_platforms import CloudNode, CloudSettings
from topology import Topology
from topology.platforms import PLATFORMS
from topology.platforms.base import PlatformKind


class CloudPlatform(pulumi.ComponentResource):
    def __init__(self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("talos-stacks:cloud:Platform", name, None, opts)


class Server(pulumi.CustomResource):
    address: pulumi.Output[str]

    def __init__(self, name: str, flavor: str, opts: pulumi.ResourceOptions) -> None:
        super().__init__("cloud:index:Server", name, {"flavor": flavor, "address": None}, opts)


class CloudMachine(NodeComponent):
    def __init__(self, name: str, args: NodeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("talos-stacks:cloud:Node", name, None, opts)
        assert isinstance(args.node, CloudNode)
        server = Server(name, args.node.flavor, pulumi.ResourceOptions(parent=self, hooks=args.gates))
        self.provisioned = ProvisionedNode(name, server.address, resources=(server,), component=self)


STACK = {
    "name": "clouds",
    "versions": {"talos": "v1.13.9", "kubernetes": "v1.36.2", "contract": "v1.13"},
    "network": {"nodes": "192.0.2.0/24"},
    "endpoint": "https://k8s.example.net:6443",
    "platform": {"kind": "cloud", "region": "north"},
    "nodes": [
        {"name": "cp-01", "role": "controlplane", "address": "192.0.2.11", "flavor": "large"},
        {"name": "worker-01", "role": "worker", "address": "192.0.2.21", "flavor": "small"},
    ],
}


ADDRESSES = {"cp-01": "198.51.100.11", "worker-01": "198.51.100.21"}


class Cloud:
    """The module of the platform."""

    WORDS = Words(leaves="its server is deleted", readdressed="")
    Platform = CloudPlatform
    Node = CloudMachine

    def environment(self, topology: Topology) -> Mapping[str, str | None]:
        return {}


@pytest.fixture(autouse=True)
def cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PLATFORMS, "cloud", PlatformKind("cloud", CloudSettings, CloudNode, "cloud"))
    monkeypatch.setitem(COMPONENTS, "cloud", Cloud)


def addresses(kind: str, name: str) -> Mapping[str, Any]:
    return {"address": ADDRESSES[name]} if kind == "Server" else {}


def test_a_platform_is_a_line_in_each_table_and_decides_its_machines_addresses() -> None:
    found = registered(STACK, outputs=addresses)
    assert found["Server", "worker-01"] == {"flavor": "small"}
    assert {name: inputs["node"] for (kind, name), inputs in found.items() if kind == "ConfigurationApply"} == ADDRESSES
    assert found["Bootstrap", "bootstrap"]["node"] == found["Kubeconfig", "kubeconfig"]["node"] == ADDRESSES["cp-01"]
