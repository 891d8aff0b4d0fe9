"""The programs the lab runs: ``pulumi``, which a real stack needs too, ``etcd``, and what restores its snapshots."""

from pathlib import Path

from engine.tools import PULUMI, Tool

ETCD = Tool(
    name="etcd",
    package="go.etcd.io/etcd/server/v3",
    module="go.etcd.io/etcd/server/v3",
    oldest=(3, 6, 0),  # what the simulated Talos versions run
    question=("--version",),
    folder=Path(__file__).parent / "etcd",
)
ETCDUTL = Tool(
    name="etcdutl",
    package="go.etcd.io/etcd/etcdutl/v3",
    module="go.etcd.io/etcd/etcdutl/v3",
    oldest=(3, 6, 0),
    question=("version",),
    folder=Path(__file__).parent / "etcdutl",
    duration="half a minute",
)
TOOLS = {tool.name: tool for tool in (PULUMI, ETCD, ETCDUTL)}
