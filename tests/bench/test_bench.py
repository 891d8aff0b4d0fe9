"""The benchmark runs and writes its tables; how fast anything is, no test says."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench import topologies
from bench.chain import chain
from tests.stack.rehearsal import CHECKOUT
from topology import load


@pytest.mark.stack
def test_a_quick_benchmark_writes_its_tables(tmp_path: Path) -> None:
    output = tmp_path / "benchmarks.md"
    output.write_text("# Benchmarks\n\nWhat a person wrote.\n")
    command = [sys.executable, "-m", "bench", "--nodes", "5", "--quick", "--output", str(output)]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    text = output.read_text()
    assert text.startswith("# Benchmarks\n\nWhat a person wrote.\n")
    assert "| nodes | resources | stack | preview |" in text
    assert "| 5 | 31, 16 custom | new |" in text and "| 5 | 31, 16 custom | living |" in text
    assert "| nodes | up | chain: installing |" in text


@pytest.mark.parametrize("nodes", [5, 13, 50, 200, 254])
def test_the_generated_topologies_have_no_faults(nodes: int) -> None:
    topology = load(topologies.cluster(nodes))
    assert len(topology.nodes) == nodes
    assert len(topology.controlplanes) == (3 if nodes < 50 else 5)


def test_the_chain_counts_waits_of_machines_side_by_side_once() -> None:
    events = [
        ("a", "configuration", 10.0),
        ("b", "configuration", 30.0),
        ("a", "running", 60.0),
        ("b", "running", 90.0),
        ("a", "etcd-bootstrap", 95.0),
        ("b", "etcd-voting", 115.0),
    ]
    entries = [{"machine": machine, "event": event, "at": at} for machine, event, at in events]
    found = chain(entries, speed=10.0)
    assert (found.installing, found.joining, found.seconds) == (6.0, 2.0, 8.0)
