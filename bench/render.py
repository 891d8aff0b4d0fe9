"""What follows from a stack file without an engine: rendering and checking, of as many nodes as one likes.

``python -m bench.render`` measures clusters of 13, 200 and 1,000 nodes, each in a process of its own, and prints a
table; ``--write`` puts it into docs/benchmarks.md. The clusters are the prod stack with more of its workers: three
zones, bonds, VLANs, volumes, a firewall, so about seventeen patches a node. Times are CPU time of one core.
"""

import argparse
import copy
import gc
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, ParamSpec, TypeVar

import yaml

from bench.render_report import Result, missed, table, write
from engine import ROOT
from findings import Finding
from machineconfig import Patch, Plan, documents, make_plan, templates
from machineconfig.checks import final_findings, patch_findings
from machineconfig.render import render_node, render_what_can_be
from machineconfig.sources import Sources
from topology import Topology, load

SIZES = (13, 200, 1000)
PATCHES = ROOT / "patches"
_ZONES = {"dc1": "10.10.64.0/18", "dc2": "10.10.128.0/18", "dc3": "10.10.192.0/18"}
_PODS = "10.32.0.0/12"
"""Room for a /24 on each of a thousand nodes and more."""
_MEGABYTE = 1000
"""In the kernel's kB."""
P = ParamSpec("P")
T = TypeVar("T")


def cluster(nodes: int) -> dict[str, Any]:
    """Return the topology of the prod stack, with the workers repeated until there are so many nodes."""
    raw: dict[str, Any] = yaml.safe_load((ROOT / "Pulumi.prod.yaml").read_text())["config"]["talos-stacks:cluster"]
    raw["network"]["nodes"], raw["network"]["podSubnets"] = "10.10.0.0/16", [_PODS]
    for zone, network in _ZONES.items():
        raw["zones"][zone] |= {"network": network, "gateway": _address(network, 0)}
    planes = [node for node in raw["nodes"] if node["role"] == "controlplane"]
    workers = [node for node in raw["nodes"] if node["role"] == "worker"]
    more = [
        {**copy.deepcopy(workers[number % len(workers)]), "name": f"worker-{number + 1:04}"}
        for number in range(nodes - len(planes))
    ]
    raw["nodes"] = [
        {**node, "address": _address(_ZONES[node["zone"]], number + 1)} for number, node in enumerate(planes + more)
    ]
    return raw


def _address(network: str, number: int) -> str:
    first, second, third, _ = network.split("/")[0].split(".")
    return f"{first}.{second}.{int(third) + number // 250}.{number % 250 + 1}"


def measure(nodes: int, rounds: int) -> Result:
    """Do everything so many times, and return the fastest of each part."""
    raw, base = cluster(nodes), _peak()
    plan = make_plan(raw, patches=PATCHES)
    templates._compile.cache_clear()
    watch = _Watch()
    watch.part("first node", _first, plan)
    for _ in range(rounds):
        watch.part("load", load, raw)
        patches = watch.part("patches", _render, plan)
        documents.parse.cache_clear()  # or it would know every patch from the round before
        watch.part("check of patches", _check_patches, plan.topology, patches)
        watch.part("check of configurations", _check, plan.topology, patches)
    once = watch.seconds.pop("first node")
    return Result(nodes, watch.seconds, once, base, _peak())


def _first(plan: Plan) -> tuple[Patch, ...]:
    node = plan.topology.workers[0]
    return render_node(plan.topology, node, Sources(PATCHES)).patches


def _render(plan: Plan) -> dict[str, tuple[Patch, ...]]:
    return render_what_can_be(plan.topology, root=PATCHES)[0]


def _check_patches(topology: Topology, patches: dict[str, tuple[Patch, ...]]) -> list[Finding]:
    return list(patch_findings(topology, patches))


def _check(topology: Topology, patches: dict[str, tuple[Patch, ...]]) -> list[Finding]:
    """Make the final configurations and check them, without the talosctl that may be on PATH."""
    return list(final_findings(topology, patches))


class _Watch:
    """CPU time of parts: the fastest of each."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def part(self, name: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        gc.collect()
        began = time.process_time()
        made = work(*args, **kwargs)
        spent = time.process_time() - began
        self.seconds[name] = min(spent, self.seconds.get(name, spent))
        return made


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE


def _apart(nodes: int, rounds: int) -> Result:
    """Measure in a process of its own, so that its memory is that of one size."""
    command = [sys.executable, "-m", "bench.render", "--one", "--rounds", str(rounds), str(nodes)]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return Result(**json.loads(ended.stdout))


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(prog="bench.render", description=__doc__)
    parser.add_argument("nodes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        sys.stdout.write(json.dumps(asdict(measure(options.nodes[0], options.rounds))))
        return 0
    results = [_apart(nodes, options.rounds) for nodes in options.nodes]
    sys.stdout.write(table(results))
    if options.write:
        write(results)
    for line in (faults := missed(results)):
        sys.stderr.write(f"{line}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
