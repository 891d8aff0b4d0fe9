"""What the patches say of routed sites, bonds, volumes and the firewall: the stack of three sites, node by node."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from machineconfig import Plan, PlanError, make_plan
from machineconfig.checks.configuration import Final, made
from tests.machineconfig import golden
from tests.machineconfig.stacks import BARE_METAL, PATCHES, raw, stack, write
from tests.machineconfig.test_patches import said
from topology import Topology

NODES = BARE_METAL["nodes"]
PORTS = ["0000:18:00.0", "0000:18:00.1"]


@pytest.fixture(scope="module")
def prod() -> Topology:
    return golden.stacks()["prod"]


def rule(topology: Topology, node: str, name: str) -> Any:
    """The subnets that a rule of the firewall lets in; None where the node has no such rule."""
    documents = [document for document in said(topology, node) if document.get("kind") == "NetworkRuleConfig"]
    found = next((document for document in documents if document["name"] == name), None)
    return found and [each["subnet"] for each in found["ingress"]]


def volumes(topology: Topology, node: str) -> list[Any]:
    return [document for document in said(topology, node) if document.get("kind") == "UserVolumeConfig"]


@pytest.mark.parametrize(("node", "site"), [("cp-01", 1), ("worker-06", 2), ("cp-03", 3)])
def test_a_node_has_the_gateway_names_time_and_proxy_of_its_site(prod: Topology, node: str, site: int) -> None:
    (interface,) = said(prod, node, "machine", "network", "interfaces")[0]
    assert interface["vlans"][0]["routes"] == [{"network": "0.0.0.0/0", "gateway": f"10.10.{site}.1"}]
    assert said(prod, node, "machine", "network", "nameservers")[0][0] == f"10.10.{site}.2"
    assert said(prod, node, "machine", "time", "servers")[0][0] == f"ntp1.dc{site}.example.internal"
    (env,) = said(prod, node, "machine", "env")
    assert env["https_proxy"] == f"http://proxy.dc{site}.example.internal:3128"
    assert {"127.0.0.1", "10.10.2.0/24", "10.96.0.0/12", ".svc", "k8s.prod.example.internal"} < {
        *env["no_proxy"].split(",")
    }
    assert said(prod, node, "machine", "nodeLabels") == [{"topology.kubernetes.io/zone": f"dc{site}"}]


@pytest.mark.parametrize(("node", "site"), [("worker-01", "dc1"), ("worker-06", "dc2"), ("cp-03", "dc1")])
def test_images_come_from_the_registries_of_the_site_and_the_quorum_site_has_another_ones(
    prod: Topology, node: str, site: str
) -> None:
    (mirrors,) = said(prod, node, "machine", "registries", "mirrors")
    assert mirrors["docker.io"] == {"endpoints": [f"https://docker.registry.{site}.example.internal"]}


@pytest.mark.parametrize(
    ("urls", "whole"),
    [
        (["https://mirror.example.internal/v2/hub"], True),
        (["https://mirror.example.internal/v2"], True),
        (["https://a.example.internal/v2/hub", "https://b.example.internal/hub/v2/"], True),
        (["https://mirror.example.internal"], False),
        (["https://mirror.example.internal:5000/"], False),
    ],
)
def test_a_mirror_with_a_path_is_used_as_it_is_written(urls: list[str], whole: bool) -> None:
    (mirrors,) = said(stack(network__registryMirrors={"docker.io": urls}), "w1", "machine", "registries", "mirrors")
    assert mirrors["docker.io"] == {"endpoints": urls} | ({"overridePath": True} if whole else {})


def with_mirror_patch(folder: Path, word: str) -> Plan:
    """A stack with a mirror whose URL has a path, and a patch that says how it is used."""
    shutil.copytree(PATCHES, folder / "patches")
    text = f"machine: {{registries: {{mirrors: {{docker.io: {{overridePath: {word}}}}}}}}}\n"
    write(folder / "patches", {"all/70-mirror.yaml": text})
    return make_plan(raw(network__registryMirrors={"docker.io": [HUB]}), patches=folder / "patches")


HUB = "https://mirror.example.internal/v2/hub"


def test_a_patch_may_say_how_a_mirror_is_used_without_naming_it_again(tmp_path: Path) -> None:
    plan = with_mirror_patch(tmp_path, "true")
    final = made(plan.topology, plan.topology.node("w1"), plan.patches["w1"])
    assert isinstance(final, Final)
    mirror = final.find("machine", "registries", "mirrors", "docker.io")
    assert mirror == {"endpoints": [HUB], "overridePath": True}


def test_a_patch_takes_no_path_from_a_mirror(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="overridePath is false; the topology says true; leave it out of the patch"):
        with_mirror_patch(tmp_path, "false")


def test_the_issuer_of_tokens_is_rendered_byte_for_byte() -> None:
    issuer = "https://sso.example.internal/realms/k8s/"
    topology = stack(apiServer={"oidc": {"issuer": issuer, "clientId": "kubernetes"}})
    (flags,) = said(topology, "cp1", "cluster", "apiServer", "extraArgs")
    assert flags["oidc-issuer-url"] == issuer


def test_the_address_is_on_the_vlan_of_a_bond_of_ports_by_bus_path(prod: Topology) -> None:
    (interface,) = said(prod, "worker-01", "machine", "network", "interfaces")[0]
    assert interface["bond"] == {
        "deviceSelectors": [{"busPath": port} for port in PORTS],
        "mode": "802.3ad",
        "xmitHashPolicy": "layer3+4",
        "lacpRate": "fast",
        "miimon": 100,
    }
    assert interface["vlans"][0]["addresses"] == ["10.10.1.21/24"]
    assert interface["dhcp"] is False and "addresses" not in interface
    (other,) = said(prod, "cp-03", "machine", "network", "interfaces")[0]
    assert other["vlans"][0]["vlanId"] == 130 and other["bond"]["deviceSelectors"][0] == {"busPath": "0000:3b:00.0"}


def test_a_bond_without_a_vlan_holds_address_and_vip_itself() -> None:
    link = {"name": "bond0", "bond": {"mode": "active-backup", "members": PORTS}}
    bare = {"platform": {"kind": "bare-metal", "link": link}, "nodes": NODES}
    (interface,) = said(stack(**bare), "cp1", "machine", "network", "interfaces")[0]
    assert interface["addresses"] == ["192.168.1.121/24"] and interface["vip"] == {"ip": "192.168.1.120"}
    assert "vlans" not in interface


def test_a_vlan_without_a_bond_is_on_the_port_and_holds_the_vip() -> None:
    bare = {"platform": {"kind": "bare-metal", "link": {"name": "eno1", "vlan": {"id": 7}}}, "nodes": NODES}
    (interface,) = said(stack(**bare), "cp1", "machine", "network", "interfaces")[0]
    assert (interface["interface"], interface["vlans"][0]["vip"]) == ("eno1", {"ip": "192.168.1.120"})
    assert not {"bond", "addresses", "vip", "mtu"} & set(interface)


def test_a_worker_has_its_local_volume_with_the_kubelet_mount_and_no_other_disk(prod: Topology) -> None:
    for node in prod.workers:
        (volume,) = volumes(prod, node.name)
        match = volume["provisioning"]["diskSelector"]["match"]
        assert match == 'disk.bus_path == "/pci0000:c0/0000:c0:01.1/0000:c1:00.0/nvme" && !system_disk'
        assert volume["filesystem"] == {"type": "xfs"}
        (mounts,) = said(prod, node.name, "machine", "kubelet", "extraMounts")
        assert [mount["destination"] for mount in mounts] == ["/var/mnt/local"]
        kinds = {document.get("kind") for document in said(prod, node.name)}
        assert not kinds & {"RawVolumeConfig", "ExistingVolumeConfig", "VolumeConfig"}
        assert said(prod, node.name, "machine", "disks") == []


def test_a_control_plane_has_no_volume_and_no_mount(prod: Topology) -> None:
    for node in prod.controlplanes:
        assert volumes(prod, node.name) == [] and said(prod, node.name, "machine", "kubelet", "extraMounts") == []


@pytest.mark.parametrize(
    ("disk", "match"),
    [
        ({"serial": "S1", "type": "nvme"}, 'disk.serial == "S1" && disk.transport == "nvme" && !system_disk'),
        ({"path": "/dev/disk/by-id/y"}, '"/dev/disk/by-id/y" in disk.symlinks && !system_disk'),
        ({"wwid": 'naa."1', "model": "M"}, 'disk.wwid == "naa.\\"1" && disk.model == "M" && !system_disk'),
        ({"serial": "S1", "type": "hdd"}, 'disk.serial == "S1" && disk.rotational && !system_disk'),
    ],
)
def test_a_disk_is_selected_by_whatever_identifies_it(disk: dict[str, str], match: str) -> None:
    platform = {"kind": "bare-metal", "volumes": {"fast": {"disk": "local", "minSize": "1GiB"}}}
    worker = NODES[1] | {"disks": {"local": disk}}
    topology = stack(**BARE_METAL | {"platform": platform, "nodes": [NODES[0], worker]})
    assert volumes(topology, "w1")[0]["provisioning"]["diskSelector"]["match"] == match


def test_the_firewall_drops_everything_but_what_the_topology_lets_in(prod: Topology) -> None:
    sites = ["10.10.1.0/24", "10.10.2.0/24", "10.10.3.0/24"]
    for node in ("cp-01", "worker-01"):
        assert said(prod, node, "ingress").count("block") == 1
        assert rule(prod, node, "talos-api") == [*sites, "10.10.200.0/24"]
        assert rule(prod, node, "kubelet") == [*sites, "10.244.0.0/16", "10.10.210.0/28"]
        assert rule(prod, node, "pod-network-vxlan") == sites
    balancers = ["10.10.100.11/32", "10.10.100.12/32"]
    assert rule(prod, "cp-02", "kubernetes-api") == [*sites, "10.244.0.0/16", *balancers, "10.10.200.0/24"]
    assert rule(prod, "cp-02", "etcd") == ["10.10.1.11/32", "10.10.2.11/32", "10.10.3.11/32"]
    assert rule(prod, "cp-02", "trustd") == sites


def test_workers_have_no_rule_for_what_control_planes_alone_run(prod: Topology) -> None:
    assert [rule(prod, "worker-01", name) for name in ("etcd", "trustd", "kubernetes-api")] == [None, None, None]


def test_without_a_firewall_in_the_topology_nothing_is_dropped() -> None:
    assert said(stack(), "cp1", "ingress") == []


def test_the_load_balancers_are_in_the_certificate_and_entra_id_logs_in(prod: Topology) -> None:
    (names,) = said(prod, "cp-01", "cluster", "apiServer", "certSANs")
    assert names == ["k8s.prod.example.internal", "10.10.100.11", "10.10.100.12"]
    (flags,) = said(prod, "cp-01", "cluster", "apiServer", "extraArgs")
    assert flags["oidc-issuer-url"].startswith("https://login.microsoftonline.com/")
    assert flags["oidc-issuer-url"].endswith("/v2.0")
    assert (flags["oidc-username-claim"], flags["oidc-groups-prefix"]) == ("oid", "entra:")


def test_no_node_is_told_to_the_discovery_service(prod: Topology) -> None:
    assert {said(prod, node.name, "cluster", "discovery", "enabled")[0] for node in prod.nodes} == {False}
