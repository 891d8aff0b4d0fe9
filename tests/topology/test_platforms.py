"""A platform is one module and one line in the table: nothing else knows the platforms by name."""

from collections.abc import Iterator
from typing import ClassVar, Literal

import pulumi
import pytest

from components.nodes import PLATFORMS as COMPONENTS
from components.nodes.shape import NodeComponent
from findings import Finding
from tests.topology.stacks import ROOT, valid
from topology import Node, Platform, Topology, TopologyError, load
from topology.platforms import PLATFORMS
from topology.platforms.base import PlatformKind
from topology.rules.rule import Rule
from topology.schema import stack_schema
from topology.values import Text


class CloudSettings(Platform):
    """A made-up platform."""

    image_platform: ClassVar[str] = "openstack"

    kind: Literal["cloud"]
    """The made-up platform."""
    region: Text
    """Where it is."""


class CloudNode(Node):
    """A node of it."""

    flavor: Text
    """Its size."""


def flavors_are_large(topology: Topology) -> Iterator[Finding]:
    for index, node in enumerate(topology.nodes):
        if isinstance(node, CloudNode) and node.flavor == "tiny":
            yield Finding.at(("nodes", index, "flavor"), node.flavor, "is too small", "take a larger one")


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    platform = PlatformKind("cloud", CloudSettings, CloudNode, "cloud", (Rule(flavors_are_large),))
    monkeypatch.setitem(PLATFORMS, "cloud", platform)


def raw(flavor: str) -> dict[str, object]:
    def edit(cluster: dict[str, object]) -> None:
        cluster["platform"] = {"kind": "cloud", "region": "north"}
        cluster["nodes"] = [
            {"name": "cp-01", "role": "controlplane", "address": "192.168.1.121", "flavor": flavor},
        ]

    cluster: dict[str, object] = valid("single-node", edit)
    return cluster


@pytest.mark.usefixtures("cloud")
def test_a_new_platform_loads_with_its_own_classes() -> None:
    topology = load(raw("large"))
    assert isinstance(topology.platform, CloudSettings) and isinstance(topology.nodes[0], CloudNode)
    assert topology.platform.image_platform == "openstack"
    assert "cloud" in stack_schema()["$defs"]


@pytest.mark.usefixtures("cloud")
def test_a_new_platform_has_its_own_rules_and_keys() -> None:
    with pytest.raises(TopologyError, match=r"^nodes\[0\]\.flavor: tiny is too small; take a larger one$"):
        load(raw("tiny"))
    other = raw("large")
    other["platform"] = {"kind": "cloud", "region": "north", "datastore": "local-lvm"}
    with pytest.raises(TopologyError, match=r"^platform\.datastore: is not a key here"):
        load(other)


def test_no_module_outside_the_table_names_a_platform() -> None:
    names = [name for platform in PLATFORMS.values() for name in (platform.settings.__name__, platform.node.__name__)]
    for room in ("topology", "machineconfig", "components", "cli"):
        for file in sorted((ROOT / room).rglob("*.py")):
            own = "platforms" in file.parts or "nodes" in file.parts or file == ROOT / "topology" / "__init__.py"
            assert own or not any(name in file.read_text() for name in names), file


def test_every_platform_of_the_stack_file_can_be_built() -> None:
    assert set(PLATFORMS) == set(COMPONENTS)


def test_every_platform_has_the_same_files_and_the_same_names_in_them() -> None:
    for kind, module in COMPONENTS.items():
        folder = ROOT / "topology" / "platforms" / kind.replace("-", "_")
        files = {file.name for file in folder.glob("*.py")}
        assert files == {"__init__.py", "node.py", "rules.py", "settings.py"}, folder
        assert PLATFORMS[kind].settings.__module__ == f"topology.platforms.{folder.name}.settings"
        assert PLATFORMS[kind].node.__module__ == f"topology.platforms.{folder.name}.node"
        made = module()
        assert issubclass(made.Platform, pulumi.ComponentResource), kind  # type: ignore[arg-type]
        assert issubclass(made.Node, NodeComponent), kind  # type: ignore[arg-type]
        assert callable(made.environment), kind
