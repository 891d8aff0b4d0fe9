"""Topologies: those of the repo and of the fixtures, changed in a few places with what stands there in others."""

import copy
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from tests.topology.stacks import FOLDERS, ROOT, cluster, stack_files

Place = tuple[str | int, ...]
_NAMES = {("images",), ("zones",), ("nodes", "*", "disks"), ("platform", "volumes")}
"""Where a map's keys are names, so that one stands for all."""
JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, False, 0, 1, -1, 65536, 10**30, 0.5, "", " ", "off", "010", "2001-01-01", "1e3", "0x1f", "~"),
        *(
            "10.0.0.0/8",
            "192.168.1.120",
            "fd00::1",
            "fd00::/64",
            "https://x.example.net:6443",
            "x" * 300,
            "é",
            "\u2028",
        ),
        *(
            [],
            {},
            [[]],
            {"": 1},
            ["a", "a"],
            "{{ node.name }}",
            "$patch",
            "a: b\n- c",
            "'\"",
            "-----BEGIN PRIVATE KEY-----",
        ),
    ]
)
VERSIONS = [
    {"talos": talos, "kubernetes": kubernetes, "contract": contract}
    for talos, kubernetes in (
        ("v1.13.9", "v1.36.2"),
        ("v1.12.4", "v1.35.0"),
        ("v1.11.6", "v1.33.1"),
        ("v1.10.9", "v1.32.0"),
    )
    for contract in ("v1.13", "v1.12", "v1.11", "v1.10")
]


@lru_cache(maxsize=1)
def bases() -> dict[str, Any]:
    """Every valid stack there is, by name; of large ones the first machines of each role and zone."""
    found = {path.name: yaml.safe_load(path.read_text()) for path in sorted(ROOT.glob("Pulumi.*.yaml"))}
    stacks = {name: _smaller(file["config"]["talos-stacks:cluster"]) for name, file in found.items()}
    return stacks | {path.name: _smaller(cluster(path)) for path in stack_files("valid")}


def _smaller(raw: Any) -> Any:
    raw = copy.deepcopy(raw)
    seen: dict[tuple[str | None, ...], int] = defaultdict(int)
    kept = []
    for node in raw["nodes"]:
        key = (node["role"], node.get("zone"), node.get("image"))
        seen[key] += 1
        if node["role"] == "controlplane" or seen[key] == 1:
            kept.append(node)
    raw["nodes"] = kept
    return raw


@lru_cache(maxsize=1)
def _known() -> dict[tuple[str, ...], list[Any]]:
    """What stands at a place in any stack file of the repo, good and bad ones."""
    found: dict[tuple[str, ...], list[Any]] = defaultdict(list)
    files = [cluster(path) for folder in FOLDERS for path in stack_files(folder) if _is_readable(path)]
    for raw in [*bases().values(), *files]:
        for place in places(raw):
            if place:
                found[_kind(place)].append(value_at(raw, place))
    return {kind: _distinct(values) for kind, values in sorted(found.items())}


def _is_readable(path: Path) -> bool:
    try:
        return isinstance(cluster(path), dict)
    except (yaml.YAMLError, KeyError, TypeError):
        return False


def _distinct(values: list[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())


def places(value: Any, at: Place = ()) -> list[Place]:
    """Every place in a value, itself first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, each in inner for place in places(each, (*at, key)))]


def value_at(value: Any, place: Place) -> Any:
    """What stands at a place."""
    for step in place:
        value = value[step]
    return value


def _kind(place: Place) -> tuple[str, ...]:
    kind: tuple[str, ...] = ()
    for step in place:
        kind = (*kind, "*" if isinstance(step, int) or kind in _NAMES else str(step))
    return kind


@st.composite
def topologies(draw: st.DrawFn) -> Any:
    """A topology with one to four changes: it may be good or bad."""
    raw = copy.deepcopy(draw(st.sampled_from(list(bases().values()))))
    for _ in range(draw(st.integers(1, 4))):
        draw(st.sampled_from([_set, _set, _set, _add, _add, _remove, _another_node, _versions, _junk]))(draw, raw)
    return raw


def _set(draw: st.DrawFn, raw: Any) -> None:
    """Another value that stands at such a place elsewhere."""
    place = draw(st.sampled_from([place for place in places(raw) if place and _kind(place) in _known()]))
    value_at(raw, place[:-1])[place[-1]] = copy.deepcopy(draw(st.sampled_from(_known()[_kind(place)])))


def _add(draw: st.DrawFn, raw: Any) -> None:
    """A key that maps of this kind have elsewhere."""
    above = draw(st.sampled_from([place for place in places(raw) if isinstance(value_at(raw, place), dict)]))
    keys = [kind for kind in _known() if kind[:-1] == _kind(above) and kind[-1] != "*"]
    if keys:
        kind = draw(st.sampled_from(keys))
        value_at(raw, above)[kind[-1]] = copy.deepcopy(draw(st.sampled_from(_known()[kind])))


def _remove(draw: st.DrawFn, raw: Any) -> None:
    place = draw(st.sampled_from([place for place in places(raw) if place]))
    del value_at(raw, place[:-1])[place[-1]]


def _another_node(draw: st.DrawFn, raw: Any) -> None:
    nodes = raw.get("nodes")
    if isinstance(nodes, list) and nodes and all(isinstance(node, dict) for node in nodes):
        node = copy.deepcopy(draw(st.sampled_from(nodes)))
        number = draw(st.integers(200, 250))
        address = str(node.get("address", "")).rpartition(".")[0]
        role = draw(st.sampled_from(["worker", "controlplane"]))
        nodes.insert(
            draw(st.integers(0, len(nodes))),
            node | {"name": f"n{number}", "address": f"{address}.{number}", "role": role},
        )


def _versions(draw: st.DrawFn, raw: Any) -> None:
    raw["versions"] = dict(draw(st.sampled_from(VERSIONS)))


def _junk(draw: st.DrawFn, raw: Any) -> None:
    place = draw(st.sampled_from([place for place in places(raw) if place]))
    value_at(raw, place[:-1])[place[-1]] = copy.deepcopy(draw(JUNK))
