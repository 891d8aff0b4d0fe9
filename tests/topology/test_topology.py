"""What a loaded topology knows."""

from collections.abc import Callable
from ipaddress import IPv4Address
from typing import Any

import pytest
from pydantic import ValidationError

from findings import written
from tests.topology.stacks import ROOT, cluster, valid
from topology import BareMetalNode, Contract, ProxmoxNode, ProxmoxSettings, Topology, TopologyError, Version, load


def test_the_endpoint_is_the_vip_and_talosconfig_has_the_control_planes_own_addresses() -> None:
    lab = load(cluster(ROOT / "Pulumi.lab.yaml"))
    assert str(lab.endpoint) == "https://127.0.10.5:6443"
    assert [str(address) for address in lab.talosconfig_endpoints] == ["127.0.10.11", "127.0.10.12", "127.0.10.13"]
    assert len(lab.talosconfig_nodes) == 5
    assert lab.network.vip not in lab.talosconfig_endpoints


def test_a_single_control_plane_is_its_own_endpoint_and_takes_pods() -> None:
    single = load(valid("single-node"))
    assert single.endpoint.url == "https://192.168.1.121:6443"
    assert single.allow_scheduling_on_control_planes
    assert not load(valid()).allow_scheduling_on_control_planes


def test_an_endpoint_on_ipv6_has_brackets() -> None:
    topology = load(valid(edit=lambda raw: raw.update(endpoint="https://[fd10::5]:6443")))
    assert (topology.endpoint.host, topology.endpoint.port) == ("fd10::5", 6443)
    assert topology.endpoint.url == "https://[fd10::5]:6443"


_SETTINGS: dict[str, Callable[[Any], object]] = {
    "imageFactory": lambda topology: topology.image_factory,
    "platform.endpoint": lambda topology: topology.platform.endpoint,
    "apiServer.oidc.issuer": lambda topology: topology.api_server.oidc.issuer,
    "apiServer.certSANs.0": lambda topology: topology.api_server.cert_sans[0],
    "network.timeServers.0": lambda topology: topology.network.time_servers[0],
    "network.proxy.http": lambda topology: topology.network.proxy.http,
    "network.registryMirrors.docker.0": lambda topology: topology.network.registry_mirrors["docker"][0],
}


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("imageFactory", "https://factory.example.net/"),
        ("platform.endpoint", "https://pve.example.internal:8006/"),
        ("apiServer.oidc.issuer", "https://sso.example.internal/realms/k8s/"),
        ("apiServer.oidc.issuer", "https://SSO.example.internal:443/realms/k8s//"),
        ("apiServer.certSANs.0", "FD10:0::5"),
        ("network.timeServers.0", "2001:DB8::1"),
        ("network.proxy.http", "http://proxy.example.net:3128/"),
        ("network.registryMirrors.docker.0", "https://docker.example.net/"),
    ],
)
def test_what_others_compare_as_text_stays_as_it_is_written(place: str, text: str) -> None:
    raw: Any = valid()
    raw["apiServer"] = {"certSANs": ["a.b"], "oidc": {"clientId": "kubernetes", "issuer": "https://a"}}
    raw["network"] |= {"timeServers": ["a.b"], "registryMirrors": {"docker": ["https://a"]}}
    raw["network"]["proxy"] = {"https": "http://a:1"}
    *above, last = place.split(".")
    at = raw
    for key in above:
        at = at[key]
    at[0 if isinstance(at, list) else last] = text
    assert _SETTINGS[place](load(raw)) == text


def test_the_endpoint_is_named_in_the_configuration_as_it_is_written() -> None:
    endpoint = load(valid(edit=lambda raw: raw.update(endpoint="https://K8S.Example.net:6443/"))).endpoint
    assert (endpoint.url, endpoint.host, endpoint.port) == (
        "https://K8S.Example.net:6443/",
        "K8S.Example.net",
        6443,
    )


def test_kube_proxy_goes_with_the_cni() -> None:
    assert load(valid()).network.kube_proxy
    assert not load(valid("cilium")).network.kube_proxy


def test_versions_are_compared_as_versions() -> None:
    versions = load(valid()).versions
    assert versions.talos == Version(1, 13, 9) and str(versions.talos) == "v1.13.9"
    assert versions.talos.contract == versions.contract == Contract(1, 13) and str(versions.contract) == "v1.13"
    assert Version(1, 9, 10) < Version(1, 10, 0)


def test_images_have_sorted_extensions_and_a_default() -> None:
    edit = {"images": {"gpu": {"extensions": ["siderolabs/zfs", "siderolabs/qemu-guest-agent"]}}}
    topology = load(valid(edit=lambda raw: raw.update(edit)))
    assert topology.images["gpu"].extensions == ("siderolabs/qemu-guest-agent", "siderolabs/zfs")
    assert topology.images["gpu"].has("qemu-guest-agent")
    assert topology.image_of(topology.nodes[0]).extensions == ()


def test_the_homelab_has_what_its_nodes_need() -> None:
    homelab = load(cluster(ROOT / "Pulumi.homelab.yaml"))
    gpu = homelab.node("talos-gpu-01")
    platform = homelab.platform
    assert isinstance(gpu, ProxmoxNode) and isinstance(platform, ProxmoxSettings)
    assert (gpu.vm_id, gpu.memory, gpu.image, gpu.pci[0].mapping, gpu.pci[0].device) == (
        123,
        12288,
        "gpu",
        "gpu0",
        "hostpci0",
    )
    assert all(image.has("qemu-guest-agent") for image in homelab.images.values())
    assert homelab.interface_of(gpu) == "eth0" and homelab.prefix_length_of(gpu) == 24
    assert platform.host_of(gpu) == "pve" and platform.cpu_of(gpu) == "x86-64-v2-AES"
    assert homelab.warnings == ()


def test_a_node_can_differ_from_its_platform() -> None:
    topology = load(valid("every-key"))
    node, platform = topology.nodes[1], topology.platform
    assert isinstance(node, ProxmoxNode) and isinstance(platform, ProxmoxSettings)
    assert (platform.host_of(node), platform.cpu_of(node), topology.interface_of(node)) == ("pve2", "x86-64-v3", "eth1")
    assert [device.device for device in node.pci] == ["hostpci1", "hostpci0"]


def test_an_install_disk_is_named_a_path_or_a_selector() -> None:
    def disk(value: object) -> object:
        disks = {"system": {"busPath": "/pci0000:00/1"}}
        topology = load(valid("bare-metal", lambda raw: raw["nodes"][0].update(installDisk=value, disks=disks)))
        node = topology.nodes[0]
        assert isinstance(node, BareMetalNode)
        return node.install_disk.model_dump(exclude_none=True)

    assert disk("system") == {"bus_path": "/pci0000:00/1"}
    assert disk("/dev/disk/by-id/ata-S4X1") == {"path": "/dev/disk/by-id/ata-S4X1"}
    assert disk({"wwid": "naa.50025", "type": "ssd"}) == {"wwid": "naa.50025", "type": "ssd"}


def test_three_sites_keep_their_zones() -> None:
    topology = load(valid("three-sites"))
    assert len(topology.nodes) == 13 and len(topology.controlplanes) == 3
    assert topology.zones["dc2"].data == {"registry": "registry.dc2.example.net"}


def test_a_topology_and_what_it_derives_cannot_be_set() -> None:
    topology = load(valid())
    with pytest.raises(ValidationError):
        topology.name = "other"
    with pytest.raises(ValidationError):
        topology.nodes[0].address = IPv4Address("192.0.2.1")
    for derived in ("endpoint", "warnings", "controlplanes"):
        with pytest.raises(ValidationError):
            setattr(topology, derived, ())


def test_an_unknown_node_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        load(valid()).node("nobody")


def test_loading_leaves_the_raw_value_alone() -> None:
    raw = cluster(ROOT / "tests/topology/invalid/ten-faults.yaml")
    with pytest.raises(TopologyError):
        load(raw)
    assert raw == cluster(ROOT / "tests/topology/invalid/ten-faults.yaml")


def test_a_single_faulty_entry_of_a_list_keeps_the_places_of_the_others() -> None:
    def edit(raw: dict[str, list[object]]) -> None:
        raw["nodes"].insert(0, "not a node")
        raw["nodes"].append({**valid()["nodes"][1], "name": "worker-02"})

    with pytest.raises(TopologyError) as caught:
        load(valid(edit=edit))
    assert [written(fault.place.path) for fault in caught.value.findings] == [
        "nodes[0]",
        "nodes[3].address",
        "nodes[3].vmId",
    ]


def test_models_are_topologies() -> None:
    assert isinstance(load(valid("bare-metal")), Topology)


def routed(edit: Callable[[Any], object] | None = None) -> Topology:
    return load(valid("routed-sites", edit))


def test_a_zone_says_what_differs_and_the_network_says_the_rest() -> None:
    sites = routed()
    one, other = (sites.site_of(sites.node(name)) for name in ("cp-01", "cp-02"))
    assert [str(site.gateway) for site in (one, other)] == ["10.1.0.1", "10.2.0.1"]
    assert [str(site.nameservers[0]) for site in (one, other)] == ["10.1.0.53", "192.0.2.53"]
    assert [list(site.registry_mirrors) for site in (one, other)] == [["docker.io"], ["*"]]
    assert one.proxy is not None and other.proxy is not None and (one.proxy.http, other.proxy.no_proxy) == (None, ())
    assert sites.prefix_length_of(sites.node("cp-03")) == 24


def test_a_cluster_without_zones_has_one_site_and_claims_nothing() -> None:
    plain = load(valid())
    assert plain.site_of(plain.nodes[0]) == plain.network
    assert (plain.losses, plain.storage_losses) == ((), ())


def test_each_zone_knows_what_its_loss_leaves() -> None:
    sites = routed()
    assert [(loss.zone, loss.left, loss.majority, loss.survives) for loss in sites.losses] == [
        ("dc1", 2, 2, True),
        ("dc2", 2, 2, True),
        ("dc3", 2, 2, True),
    ]
    assert [loss.zone for loss in sites.storage_losses] == ["dc1", "dc2", "dc3"]
    assert [node.name for node in sites.nodes_in("dc1")] == ["cp-01", "worker-01"]


def test_one_zone_claims_nothing() -> None:
    def edit(raw: Any) -> None:
        raw["zones"] = {"rack": {"storage": True}}
        for node in raw["nodes"]:
            node["zone"] = "rack"

    assert load(valid(edit=edit)).losses == ()


def test_a_link_names_the_interface_and_a_node_may_have_one_of_its_own() -> None:
    sites = routed()
    assert [sites.interface_of(sites.node(name)) for name in ("cp-01", "cp-03")] == ["bond0", "eno1"]
    link = sites.link_of(sites.node("worker-01"))
    assert link is not None and link.bond is not None and link.vlan is not None
    assert (link.bond.members, link.vlan.id) == (("0000:18:00.0", "0000:18:00.1"), 110)


def test_only_workers_have_local_volumes() -> None:
    sites = routed()
    volumes = sites.platform.volumes_of(sites.node("worker-01"))
    assert [(name, local.disk.identity) for name, local in volumes.items()] == [
        ("local", "/pci0000:c0/0000:c0:01.1/0000:c1:00.0/nvme")
    ]
    assert sites.platform.volumes_of(sites.node("cp-01")) == {}


def test_a_zone_uses_the_mirrors_of_the_zone_that_it_names() -> None:
    def edit(raw: Any) -> None:
        raw["network"]["registryMirrors"] = {"ghcr.io": ["https://ghcr.example.net"]}
        raw["zones"]["dc1"]["registryMirrors"] = {"docker.io": ["https://docker.example.net/v2/hub"]}
        raw["zones"]["dc2"].pop("registryMirrors", None)
        raw["zones"]["dc3"].pop("registryMirrors", None)
        raw["zones"]["dc3"]["registryMirrorsOf"] = "dc1"

    topology = routed(edit)
    mirrors = {node.zone: topology.site_of(node).registry_mirrors for node in topology.nodes}
    assert mirrors["dc3"] == mirrors["dc1"] == {"docker.io": ("https://docker.example.net/v2/hub",)}
    assert mirrors["dc2"] == {"ghcr.io": ("https://ghcr.example.net",)}
    last = next(node for node in topology.nodes if node.zone == "dc3")
    assert topology.site_of(last).registries_with_paths == {"docker.io"}


def test_vms_of_all_hosts_take_the_image_from_a_datastore_that_the_hosts_share() -> None:
    def hosts(**platform: object) -> list[str]:
        topology = load(valid("every-key", lambda raw: raw["platform"].update(platform)))
        assert isinstance(topology.platform, ProxmoxSettings)
        return [topology.platform.image_host_of(node) for node in topology.nodes]

    assert hosts(imageDatastore="nfs") == ["pve", "pve2"]
    assert hosts(imageDatastore="nfs", sharedDatastores=["nfs"]) == ["pve", "pve"]
