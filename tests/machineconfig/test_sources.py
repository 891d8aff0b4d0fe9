"""Work that does not grow with the number of nodes."""

from pathlib import Path

import pytest

from tests.machineconfig.stacks import PATCHES, render_cluster, render_node, stack
from topology import Topology


def with_workers(count: int) -> Topology:
    nodes = [{"name": "cp1", "role": "controlplane", "address": "192.168.1.121", "cores": 4, "memory": 8192}]
    for number in range(count):
        nodes.append(nodes[0] | {"name": f"w{number}", "role": "worker", "address": f"192.168.1.{130 + number}"})
    return stack(nodes=nodes)


def opened(topology: Topology, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    files: list[Path] = []
    read = Path.read_text

    def noted(path: Path, *arguments: str | None, **options: str | None) -> str:
        files.append(path)
        return read(path, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_text", noted)
        render_cluster(topology, root=PATCHES)
    return files


def test_each_file_is_read_once_for_all_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (opened(with_workers(count), monkeypatch) for count in (2, 20))
    assert few == many
    assert len(set(few)) == len(few)


def test_a_node_alone_is_rendered_as_it_is_among_others() -> None:
    topology = with_workers(2)
    together = render_cluster(topology, root=PATCHES)
    for node in topology.nodes:
        assert render_node(topology, node, root=PATCHES) == together[node.name]
