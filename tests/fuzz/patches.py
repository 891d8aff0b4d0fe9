"""Patches: fragments and documents drawn from the structure tables, mostly of the right types, as templates."""

import json
from typing import Any

from hypothesis import strategies as st

from machinery.structure import DOCUMENTS, V1ALPHA1, Anything, ListOf, MapOf, Release, Scalar, Struct, Type

SECRET = "{{ secret('pw') | flow }}"
_PART = "x-{{ secret('pw') }}.y"
_LEVELS = ("all", "controlplane", "worker", "platform/proxmox", "platform/bare-metal", "node/w1", "node/cp1")
_DEEPEST = 5
_TEXTS = [
    *("a", "eth0", "bond0", "", "off", "010", "1", "1e3", "true", "null", "é", "x" * 300, "a b", "{{ node.name }}"),
    *(
        "192.168.1.121",
        "192.168.1.120",
        "192.168.1.0/24",
        "10.0.0.1",
        "fd00::1",
        "::/0",
        "0.0.0.0/0",
        "02:00:00:00:00:01",
    ),
    *(
        "/dev/sda",
        "/var/lib/x",
        "/etc/kubernetes/x",
        "docker.io",
        "k8s.example.net",
        "https://k8s.example.net:6443",
        "1m",
        "0s",
    ),
    *(
        "ghcr.io/x/y:v1",
        "registry.k8s.io/kube-apiserver:v1.36.2",
        "controlplane",
        "worker",
        "flannel",
        "none",
        "c1",
        "node.x/y",
    ),
    *(
        "name=value",
        "system_disk",
        "disk.size > 10u * GB",
        "!system_disk",
        "1GiB",
        "80%",
        "v1.36.2",
        "factory.talos.dev/x/y:v1",
    ),
]
_NUMBERS = [0, 1, -1, 80, 1500, 65535, 65536, 4094, 2**31, 2**63, 2**64]
_GOOD: dict[str, list[Any]] = {
    "bool": [True, False],
    "duration": ["1s", "5m", "1h30m", "0s", "-1s"],
    "bytes": ["1GiB", "500MB", "0", "10%"],
    "size": ["1GiB", "80%", "-1GiB"],
    "disksize": ["10GB", "1TiB"],
    "diskcondition": [">= 10GB", "< 1TB", "== 5GB"],
    "filemode": [0o644, "0o600", 420],
    "base64": ["aGVsbG8=", "LS0t"],
    "address": ["192.168.1.121", "192.168.1.120", "10.0.0.1", "fd00::1"],
    "prefix": ["192.168.1.0/24", "10.0.0.1/32", "fd00::/64"],
    "addressport": ["10.0.0.1:51820", "[fd00::1]:1"],
    "mac": ["02:00:00:00:00:01"],
    "ports": [50000, "50000-50010", "10-1"],
    "url": ["https://x.example.net", "udp://10.0.0.1:514", "tcp://[fd00::1]:1/"],
    "cel": ["system_disk", 'disk.transport == "nvme"', "disk.size > 10u * GB", "!system_disk", "disk."],
    "bondmode": ["802.3ad", "active-backup"],
    "filesystem": ["xfs", "ext4", "vfat"],
    "encryption": ["luks2"],
    "volumetype": ["partition", "disk", "directory"],
    "action": ["accept", "block"],
    "protocol": ["tcp", "udp", "icmp"],
    "onoff": ["on", "off", True],
    "autohostname": ["off", "stable"],
}


def scalars(name: str) -> st.SearchStrategy[Any]:
    """A scalar of a kind: mostly one that it takes."""
    if name.startswith(("int", "uint")):
        good: st.SearchStrategy[Any] = st.sampled_from(_NUMBERS)
    else:
        good = st.sampled_from(_GOOD.get(name, _TEXTS))
    other: st.SearchStrategy[Any] = st.sampled_from([*_TEXTS, *_NUMBERS, None, True, [], {}])
    secret: st.SearchStrategy[Any] = st.sampled_from([SECRET, _PART])
    return st.integers(0, 19).flatmap(lambda die: (other, secret)[die] if die < 2 else good)


@st.composite
def values(draw: st.DrawFn, kind: Type, release: Release, depth: int = 0) -> Any:
    """A value of a type of the tables; now and then with a key or a type that is wrong."""
    if isinstance(kind, Scalar):
        return draw(scalars(kind.name))
    if isinstance(kind, Anything) or depth >= _DEEPEST:
        return draw(st.sampled_from([{}, {"a": "b"}, {"apiVersion": "v1", "kind": "Pod"}]))
    if isinstance(kind, ListOf):
        return [draw(values(kind.item, release, depth + 1)) for _ in range(draw(st.integers(0, 2)))]
    if isinstance(kind, MapOf):
        keys = draw(st.lists(st.sampled_from([*_TEXTS, "node-role.kubernetes.io/x", _PART]), max_size=2))
        return {key: draw(values(kind.item, release, depth + 1)) for key in keys}
    return draw(_structs(kind, release, depth))


@st.composite
def _structs(draw: st.DrawFn, kind: Struct, release: Release, depth: int) -> Any:
    fields = {name: field for name, field in kind.at(release).items() if name not in ("apiVersion", "kind")}
    if not fields:
        return {}
    names = draw(st.lists(st.sampled_from(list(fields)), min_size=1, max_size=2 if depth else 1, unique=True))
    made = {name: draw(values(fields[name].type, release, depth + 1)) for name in names}
    die = draw(st.integers(0, 40))
    if die == 0:
        made[draw(st.sampled_from(["unknown", "hostname", "", "$patch"]))] = draw(st.sampled_from(["delete", 1, {}]))
    return {"$patch": "delete"} if die == 1 else made


@st.composite
def documents(draw: st.DrawFn, release: Release) -> Any:
    """One document: a fragment of machine and cluster, or one with a kind."""
    if draw(st.booleans()):
        fields = V1ALPHA1.at(release)
        part = draw(st.sampled_from(["machine", "machine", "cluster"]))
        return {part: draw(values(fields[part].type, release, 0))}
    kind = draw(st.sampled_from(sorted(DOCUMENTS)))
    made = draw(_whole(DOCUMENTS[kind], release))
    return {"apiVersion": "v1alpha1", "kind": kind, **made}


@st.composite
def _whole(draw: st.DrawFn, kind: Struct, release: Release) -> Any:
    fields = {name: field for name, field in kind.at(release).items() if name not in ("apiVersion", "kind")}
    names = draw(st.lists(st.sampled_from(list(fields)), max_size=4, unique=True)) if fields else []
    wanted = dict.fromkeys((*(["name"] if "name" in fields else []), *names))
    return {name: draw(values(fields[name].type, release, 1)) for name in wanted}


@st.composite
def files(draw: st.DrawFn, release: Release = (1, 13, 9)) -> dict[str, str]:
    """One to three files of patches by their path below `patches/`."""
    found = {}
    for number in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        made = draw(st.lists(documents(release), min_size=1, max_size=draw(st.sampled_from([1, 1, 2]))))
        path = f"{draw(st.sampled_from(_LEVELS))}/9{number}-fuzz.yaml.j2"
        found[path] = "---\n".join(_text(document) for document in made)
    return found


def _text(document: Any) -> str:
    """JSON is YAML; a secret loses its quotes, so that it is asked for."""
    return json.dumps(document, ensure_ascii=False).replace(json.dumps(SECRET), SECRET) + "\n"
