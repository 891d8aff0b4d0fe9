"""What the repo's own patches say, for the contracts and platforms that there are."""

from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.machineconfig.stacks import BARE_METAL, OLD, PATCHES, rendered, stack
from topology import Topology

CONTROL_PLANE = {"name": "cp1", "role": "controlplane", "address": "192.168.1.121", "cores": 4, "memory": 8192}
LABEL = "node.kubernetes.io/exclude-from-external-load-balancers"


def said(topology: Topology, name: str, *path: str) -> list[Any]:
    """Every value that the patches of a node give at a path, in order."""
    values = []
    for patch in rendered(topology, name):
        for document in YAML(typ="safe", pure=True).load_all(patch.text):
            for key in path:
                document = document.get(key) if isinstance(document, dict) else None
            if document is not None:
                values.append(document)
    return values


def test_the_host_name_is_a_document_from_contract_1_12_on() -> None:
    assert said(stack(), "cp1", "hostname") == ["cp1"]
    assert said(stack(), "cp1", "auto") == ["off"]
    assert said(stack(), "cp1", "machine", "network", "hostname") == []


def test_the_host_name_stands_in_machine_up_to_contract_1_11() -> None:
    assert said(stack(versions=OLD), "cp1", "machine", "network", "hostname") == ["cp1"]
    assert said(stack(versions=OLD), "cp1", "kind") == []


def test_a_name_that_yaml_would_take_for_something_else_stays_text() -> None:
    topology = stack(nodes=[CONTROL_PLANE | {"name": "0x10"}])
    assert said(topology, "0x10", "hostname") == ["0x10"]


def test_the_interface_is_declared_whole_and_the_vip_is_the_control_planes_alone() -> None:
    entry = {
        "interface": "eth0",
        "dhcp": False,
        "addresses": ["192.168.1.121/24"],
        "routes": [{"network": "0.0.0.0/0", "gateway": "192.168.1.1"}],
    }
    assert said(stack(), "cp1", "machine", "network", "interfaces") == [[entry | {"vip": {"ip": "192.168.1.120"}}]]
    assert said(stack(), "w1", "machine", "network", "interfaces") == [[entry | {"addresses": ["192.168.1.122/24"]}]]


def test_a_bare_machine_without_a_named_interface_keeps_what_it_has() -> None:
    bare = {key: value for key, value in BARE_METAL.items() if key != "network__interface"}
    topology = stack(**bare, network__vip=None, endpoint="https://k8s.example.net:6443")
    assert said(topology, "cp1", "machine", "network", "interfaces") == []


def test_nodes_address_and_etcds_come_from_the_node_network_and_never_from_the_vip() -> None:
    subnets = ["192.168.1.0/24", "!192.168.1.120/32"]
    assert said(stack(), "w1", "machine", "kubelet", "nodeIP", "validSubnets") == [subnets]
    assert said(stack(), "cp1", "cluster", "etcd", "advertisedSubnets") == [subnets]
    assert said(stack(), "w1", "cluster", "etcd") == []


def test_the_install_disk_is_the_platforms() -> None:
    assert said(stack(), "cp1", "machine", "install", "disk") == ["/dev/sda"]
    assert said(stack(**BARE_METAL), "cp1", "machine", "install", "diskSelector") == [{"serial": "S1"}]
    assert said(stack(**BARE_METAL), "w1", "machine", "install", "disk") == ["/dev/disk/by-id/x"]


@pytest.mark.parametrize(("cni", "disabled"), [("none", True), ("flannel", False)])
def test_kube_proxy_goes_with_the_cni_of_talos(cni: str, disabled: bool) -> None:
    topology = stack(network__cni=cni)
    assert said(topology, "cp1", "cluster", "network", "cni", "name") == [cni]
    assert said(topology, "cp1", "cluster", "proxy", "disabled") == [disabled]
    assert said(topology, "w1", "cluster", "proxy") == []


def test_kubeprism_listens_on_port_7445_everywhere() -> None:
    for name in ("cp1", "w1"):
        assert said(stack(), name, "machine", "features", "kubePrism") == [{"enabled": True, "port": 7445}]


def test_serving_certificates_are_rotated_with_manifests_of_pinned_versions() -> None:
    topology = stack(kubelet={"servingCertificates": {"approver": "v0.10.0", "metricsServer": "v0.8.1"}})
    assert said(topology, "w1", "machine", "kubelet", "extraArgs") == [{"rotate-server-certificates": "true"}]
    (manifests,) = said(topology, "cp1", "cluster", "extraManifests")
    assert [url for url in manifests if "/v0.10.0/" in url or "/v0.8.1/" in url] == manifests
    assert said(topology, "w1", "cluster", "extraManifests") == []
    assert said(stack(), "cp1", "cluster", "extraManifests") == []


@pytest.mark.parametrize("discovery", [True, False])
def test_discovery_is_what_the_topology_says(discovery: bool) -> None:
    assert said(stack(network__discovery=discovery), "w1", "cluster", "discovery", "enabled") == [discovery]


def test_oidc_settings_are_arguments_of_the_api_server_and_only_those_that_are_given() -> None:
    oidc = {"issuer": "https://sso.example.net", "clientId": "kubernetes", "groupsPrefix": "oidc:"}
    topology = stack(apiServer={"oidc": oidc})
    assert said(topology, "cp1", "cluster", "apiServer", "extraArgs") == [
        {
            "oidc-issuer-url": "https://sso.example.net",
            "oidc-client-id": "kubernetes",
            "oidc-groups-prefix": "oidc:",
        }
    ]
    assert said(topology, "w1", "cluster", "apiServer") == []


def test_certificate_names_cover_endpoint_vip_and_extra_ones_once_each() -> None:
    sans = {"certSANs": ["10.30.0.9", "k8s.example.net", "198.51.100.10"]}
    topology = stack(endpoint="https://k8s.example.net:6443", apiServer=sans)
    assert said(topology, "cp1", "cluster", "apiServer", "certSANs") == [
        ["192.168.1.120", "k8s.example.net", "10.30.0.9", "198.51.100.10"]
    ]
    assert said(topology, "cp1", "machine", "certSANs") == [["192.168.1.121"]]


def test_up_to_contract_1_11_the_endpoint_is_not_named_a_second_time() -> None:
    topology = stack(versions=OLD, endpoint="https://k8s.example.net:6443")
    assert said(topology, "cp1", "cluster", "apiServer", "certSANs") == [["192.168.1.120"]]


def test_a_cluster_without_workers_schedules_on_control_planes_and_offers_them_to_load_balancers() -> None:
    topology = stack(nodes=[CONTROL_PLANE])
    assert said(topology, "cp1", "cluster", "allowSchedulingOnControlPlanes") == [True]
    assert said(topology, "cp1", "machine", "nodeLabels", LABEL) == [{"$patch": "delete"}]


def test_with_workers_control_planes_stay_as_talos_makes_them() -> None:
    assert said(stack(), "cp1", "cluster", "allowSchedulingOnControlPlanes") == []
    assert said(stack(), "cp1", "machine", "nodeLabels") == []


def test_every_template_stays_under_forty_lines() -> None:
    long = [path.name for path in PATCHES.rglob("*.j2") if len(path.read_text().splitlines()) >= 40]
    assert long == []
