"""The measurements as Markdown, between two marks of docs/benchmarks.md; the prose around them is a person's."""

import os
import platform
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from bench.measurements import Measurement, Previews, use, wall
from bench.processes import Cost
from lab.plugins import real_plugins
from lab.tools import TOOLS

_KINDS = ("engine", "program", "plugin")
_BEGIN, _END = "<!-- {plugins}: written by make bench -->", "<!-- end of {plugins} -->"


def write(path: Path, measurements: Sequence[Measurement], rounds: int, speed: float) -> None:
    """Put the tables where they were, or at the end."""
    plugins = "real plugin" if real_plugins() else "stand-in"
    begin, end = _BEGIN.format(plugins=plugins), _END.format(plugins=plugins)
    text = path.read_text() if path.exists() else "# Benchmarks\n"
    section = f"{begin}\n{tables(measurements, rounds, speed)}\n{end}"
    before, found, rest = text.partition(begin)
    after = rest.partition(end)[2] if found else "\n"
    path.write_text(f"{before if found else before.rstrip() + chr(10) * 2}{section}{after}")


def tables(measurements: Sequence[Measurement], rounds: int, speed: float) -> str:
    """Return all tables, with what was measured on."""
    return "\n\n".join([_machine(rounds, speed), _previews(measurements), _ups(measurements), _calls(measurements)])


def _machine(rounds: int, speed: float) -> str:
    versions = [f"pulumi {TOOLS['pulumi'].version}", f"SDK {metadata.version('pulumi')}"]
    versions += [f"Python {platform.python_version()}", f"Linux {platform.release().split('-')[0]}"]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    load = f"load average at the end {os.getloadavg()[2]:.1f}" if sys.platform != "win32" else ""
    plugin = "the real Talos plugin" if real_plugins() else "the lab's stand-in for the Talos plugin"
    return (
        f"With {plugin}, {', '.join(versions)}; {os.cpu_count()} cores, {memory:.0f} GB; medians of {rounds}; "
        f"simulated time {speed:g} times as fast as real time; {load}. CPU in seconds, peak memory in MB."
    )


def _previews(measurements: Sequence[Measurement]) -> str:
    head = ["nodes", "resources", "stack", "preview", "floor: resources", "floor: calls", "preview / floors"]
    head += ["floor: same kinds", "preview / same kinds and calls"]
    rows = []
    for one in measurements:
        for name, previews in (("new", one.new), ("living", one.living)):
            calls = f"{one.calls_wall:.2f} s" if name == "living" else "-"
            row = [str(one.nodes), f"{one.resources}, {one.custom} custom", name, f"{wall(previews.cluster):.2f} s"]
            row += [f"{wall(previews.bare):.2f} s", calls, f"**{one.ratio(previews):.2f}**"]
            row += [f"{wall(previews.mixed):.2f} s", f"{one.ratio_to_mixed(previews):.2f}"]
            rows.append(row + _uses(previews))
    return _table([*head, *_KINDS, "floor's engine", "floor's program"], rows)


def _uses(previews: Previews) -> list[str]:
    ours = [_use(previews.cluster, kind) for kind in _KINDS]
    return [*ours, *(_use(previews.bare, kind) for kind in ("engine", "program"))]


def _ups(measurements: Sequence[Measurement]) -> str:
    head = ["nodes", "up", "chain: installing", "chain: joining", "up / chain", "floor: up of resources"]
    kinds = [*_KINDS, "world", "etcd"]
    rows = [
        [
            str(one.nodes),
            f"{one.up.wall:.1f} s",
            f"{one.chain.installing:.1f} s",
            f"{one.chain.joining:.1f} s",
            f"**{one.up.wall / one.chain.seconds:.2f}**",
            f"{one.bare_up.wall:.1f} s",
            *(_use([one.up], kind) for kind in kinds),
        ]
        for one in measurements
    ]
    return _table([*head, *kinds], rows)


def _calls(measurements: Sequence[Measurement]) -> str:
    counts = sorted(measurements[0].calls)
    head = ["nodes", *(f"calls, {count} at once" for count in counts), "plugin"]
    rows = [
        [
            str(one.nodes),
            *(f"{wall(one.calls[count]):.2f} s" for count in counts),
            _use(one.calls[counts[0]], "plugin"),
        ]
        for one in measurements
    ]
    return _table(head, rows)


def _use(costs: list[Cost], kind: str) -> str:
    found = use(costs, kind)
    return f"{found.cpu:.1f} s, {found.memory:.0f} MB" if found.memory else "-"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
