"""The prod stack: thirteen machines on bare metal over three routed sites, under their own addresses."""

import base64
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from lab import control
from tests.stack.rehearsal import Rehearsal
from tests.waiting import eventually

pytestmark = pytest.mark.stack

ENDPOINT = "k8s.prod.example.internal"
ASK = """\
import ssl, sys, urllib.error, urllib.request
context = ssl.create_default_context(cafile=f"{sys.argv[1]}/ca.crt")
context.load_cert_chain(f"{sys.argv[1]}/client.crt", f"{sys.argv[1]}/client.key")
for host in sys.argv[2:]:
    try:
        print(urllib.request.urlopen(f"https://{host}:6443/readyz", context=context, timeout=5).read().decode())
    except (OSError, urllib.error.URLError) as error:
        print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    rehearsal = Rehearsal(tmp_path_factory.mktemp("prod"), "prod")
    rehearsal.start()
    try:
        rehearsal.up()
        yield rehearsal
    finally:
        rehearsal.down()


@pytest.fixture(scope="module")
def identity(prod: Rehearsal, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the stack's kubeconfig has: the cluster's authority and the administrator's identity."""
    folder = tmp_path_factory.mktemp("identity")
    kubeconfig = yaml.safe_load(prod.outputs(secrets=True)["kubeconfig"])
    assert kubeconfig["clusters"][0]["cluster"]["server"] == f"https://{ENDPOINT}:6443"
    user, cluster = kubeconfig["users"][0]["user"], kubeconfig["clusters"][0]["cluster"]
    (folder / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    (folder / "client.crt").write_bytes(base64.b64decode(user["client-certificate-data"]))
    (folder / "client.key").write_bytes(base64.b64decode(user["client-key-data"]))
    return folder


def ready(prod: Rehearsal, identity: Path, *hosts: str) -> list[str]:
    """What the API says at each host; the certificate must have the host's name."""
    return prod.command(sys.executable, "-c", ASK, str(identity), *hosts).split()


def test_all_thirteen_machines_join_and_no_invariant_is_violated(prod: Rehearsal) -> None:
    names = {node["name"] for node in prod.topology["nodes"]}
    assert len(names) == 13
    assert {entry["machine"] for entry in prod.journal("configuration")} == names
    assert [entry["machine"] for entry in prod.journal("etcd-bootstrap")] == ["cp-01"]
    eventually(lambda: {e["machine"] for e in prod.journal("kubelet-joined")} == names, what="every kubelet to join")
    for event in ("violation", "address-lost", "install-failed", "defect"):
        assert prod.journal(event) == []


def test_workers_reach_the_api_by_the_name_that_leads_to_the_load_balancers(prod: Rehearsal, identity: Path) -> None:
    joined = {entry["machine"]: entry["via"] for entry in prod.journal("kubelet-joined")}
    assert {via for name, via in joined.items() if name.startswith("worker")} == {f"{ENDPOINT}:6443"}
    hosts = (ENDPOINT, *prod.topology["apiServer"]["loadBalancers"])
    assert ready(prod, identity, *hosts) == ["ok", "ok", "ok"]


def test_another_run_changes_nothing(prod: Rehearsal) -> None:
    assert prod.steps() == {}


@pytest.mark.parametrize("zone", ["dc1", "dc2", "dc3"])
def test_the_loss_of_any_site_leaves_the_api_and_its_return_heals_it(
    prod: Rehearsal, identity: Path, zone: str
) -> None:
    lost = [node["name"] for node in prod.topology["nodes"] if node["zone"] == zone]
    for name in lost:
        prod.power(name, "off")
    eventually(lambda: ready(prod, identity, ENDPOINT) == ["ok"], what=f"the API without {zone}", within=60)
    for name in lost:
        prod.power(name, "on")

    def healed() -> bool:
        machines = control.machines(at=prod.run.socket)
        return all(machine["stage"] == "running" for machine in machines) and all(
            (machine["etcd"] or {}).get("healthy") for machine in machines if machine["role"] == "controlplane"
        )

    eventually(healed, what=f"every machine of {zone} to be back", within=90)
    assert prod.journal("violation") == []
