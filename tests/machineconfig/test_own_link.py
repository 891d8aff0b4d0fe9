"""What a patch adds to the link that the stack file describes."""

from pathlib import Path
from typing import Any

import pytest

from tests.machineconfig.stacks import BONDED, refused_and_warned

ENTRY = "machine: {network: {interfaces: [{interface: bond0, %s}]}}\n"
OWN = "patches/all/20-network.yaml.j2"
VIP = "apiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: 192.168.1.120\nlink: %s\n"
HCLOUD = VIP.replace("Layer2VIPConfig", "HCloudVIPConfig") + "apiToken: '{{ secret(\"t\") }}'\n"
VLAN = "apiVersion: v1alpha1\nkind: VLANConfig\nname: %s\nvlanID: %s\nparent: bond0\nmtu: %s\n"


def refused(folder: Path, text: str, file: str = "node/cp1/70-x.yaml.j2", **changes: Any) -> tuple[str, ...]:
    return refused_and_warned(folder, {file: text}, **(changes or BONDED))[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("vlans: [{vlanId: 20, mtu: 1400}]", f"gives packets of 1400 bytes to the link of {OWN}:23, which has 1500"),
        ("vlans: [{vlanId: 0x14, mtu: 9000}]", f"gives packets of 9000 bytes to the link of {OWN}:23, which has 1500"),
        ("vlans: [{vlanId: 20, addresses: [10.9.0.5/24]}]", f"gives 10.9.0.5/24 to the link of {OWN}:23, which has"),
        ("vlans: [{vlanId: 20, cidr: 10.9.0.5/24}]", f"gives 10.9.0.5/24 to the link of {OWN}:23"),
        ("vlans: [{vlanId: 20, addresses: [192.168.1.121/16]}]", f"gives 192.168.1.121/16 to the link of {OWN}:23"),
        ("vlans: [{vlanId: 20, addresses: [192.168.1.99/24]}]", "gives 192.168.1.99/24; the topology says"),
        ("vlans: [{vlanId: 20, dhcp: true}]", f"turns on DHCP on the link of {OWN}:23"),
        ("mtu: 9000", f"gives packets of 9000 bytes to the link of {OWN}:6, which has 1500; set the link's mtu"),
        ("bond: {mode: active-backup}", f"gives mode to the bond of {OWN}:6; set it in the link's bond"),
        ("bond: {interfaces: [eth7]}", f"gives interfaces to the bond of {OWN}:6"),
        (
            "vlans: [{vlanId: 30, mtu: 9000}]",
            f"VLAN 30 has packets of 9000 bytes on bond0, which has 1500 in {OWN}:9; give it 1500 or less",
        ),
        ("ignore: true", f"makes Talos ignore the link of {OWN}:23, which then has no address; leave it out"),
        (
            "vlans: [{vlanId: 20, routes: [{network: 0.0.0.0/0, gateway: 192.168.1.254}]}]",
            f"gives a second default route, through 192.168.1.254, to the link of {OWN}:23, whose gateway is 192.168.",
        ),
        (
            "vlans: [{vlanId: 20, routes: [{gateway: 192.168.1.254, metric: 1024}]}]",
            "gives a second default route, through 192.168.1.254",
        ),
    ],
)
def test_what_the_stack_file_says_of_the_link_is_refused_with_its_line(
    settings: str, message: str, tmp_path: Path
) -> None:
    line = refused(tmp_path, ENTRY % settings)[0]
    assert line.startswith(f"patches/node/cp1/70-x.yaml.j2:1 (cp1): {message}")


@pytest.mark.parametrize(
    "settings",
    [
        "vlans: [{vlanId: 30, mtu: 1400, addresses: [10.9.0.5/24]}]",
        "vlans: [{vlanId: 20, mtu: 1500}]",
        "vlans: [{vlanId: 20, addresses: ['fd00::5/64']}]",
        "vlans: [{vlanId: 20, routes: [{network: 10.9.0.0/16, gateway: 192.168.1.254}]}]",
        "vlans: [{vlanId: 20, routes: [{network: 0.0.0.0/0, gateway: 192.168.1.254, metric: 2048}]}]",
        "vlans: [{vlanId: 20, routes: [{network: '::/0', gateway: 'fe80::1'}]}]",
        "vlans: [{vlanId: 20, vip: {ip: 192.168.1.120}}]",
        "ignore: false",
        "addresses: [10.9.0.5/24]",
        "bond: {mode: 802.3ad, updelay: 100}",
    ],
)
def test_what_only_adds_to_it_is_clean(settings: str, tmp_path: Path) -> None:
    assert refused(tmp_path, ENTRY % settings) == ()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("mtu: 9000", "gives packets of 9000 bytes"),
        ("addresses: [10.9.0.5/24]", "gives 10.9.0.5/24"),
        ("dhcp: true", "turns on DHCP"),
        ("ignore: true", "makes Talos ignore the link"),
    ],
)
def test_the_vlan_by_the_name_of_its_link_is_the_same(settings: str, message: str, tmp_path: Path) -> None:
    (line,) = refused(tmp_path, (ENTRY % settings).replace("bond0", "bond0.20"))
    assert line.startswith(f"patches/node/cp1/70-x.yaml.j2:1 (cp1): {message}")
    assert f"{OWN}:23" in line


@pytest.mark.parametrize(
    ("text", "taker"),
    [
        ("machine: {network: {interfaces: [{interface: br0, bridge: {interfaces: [%s]}}]}}\n", "br0"),
        ("machine: {network: {interfaces: [{interface: bond9, bond: {interfaces: [%s]}}]}}\n", "bond9"),
        ("apiVersion: v1alpha1\nkind: BridgeConfig\nname: br0\nlinks: [%s]\n", "BridgeConfig br0"),
        ("apiVersion: v1alpha1\nkind: BondConfig\nname: bond9\nlinks: [%s]\nbondMode: 802.3ad\n", "BondConfig bond9"),
    ],
)
def test_a_patch_takes_no_link_with_the_address_as_a_port(text: str, taker: str, tmp_path: Path) -> None:
    lines = refused(tmp_path, text % "bond0.20")
    assert f"makes the link of {OWN}:23 a port of {taker}, and a port has no address of its own" in lines[0]
    assert not any("[own-link]" in line for line in refused(tmp_path, text % "eth7"))


def test_a_second_address_on_a_port_that_is_the_link_is_refused_too(tmp_path: Path) -> None:
    text = "machine: {network: {interfaces: [{interface: eth0, addresses: [10.9.0.5/24]}]}}\n"
    (line,) = refused_and_warned(tmp_path, {"node/cp1/70-x.yaml": text})[0]
    assert "gives 10.9.0.5/24 to the link of patches/all/20-network.yaml.j2:6, which has 192.168.1.121/24" in line


@pytest.mark.parametrize(
    ("text", "link"),
    [
        (VIP % "eth5", "eth5 in Layer2VIPConfig"),
        (VIP % "bond0.20", "bond0.20 in Layer2VIPConfig"),
        (HCLOUD % "eth5", "eth5 in HCloudVIPConfig"),
        (ENTRY % "vip: {ip: 192.168.1.120}", "bond0"),
        (ENTRY % "vlans: [{vlanId: 30, vip: {ip: 192.168.1.120}}]", "bond0.30"),
    ],
)
def test_the_vip_on_a_second_link_or_in_a_second_form_is_refused(text: str, link: str, tmp_path: Path) -> None:
    (line,) = refused(tmp_path, text)
    assert f"a second time, to {link}: {OWN}:30 gives it to bond0.20; leave it out" in line


@pytest.mark.parametrize(
    "text",
    [
        VIP % "eth5",
        HCLOUD % "eth5",
        ENTRY % "vip: {ip: 192.168.1.120}",
        ENTRY % "vlans: [{vlanId: 20, vip: {ip: 192.168.1.99}}]",
        ENTRY % "vip: {hcloud: {apiToken: '{{ secret(\"t\") }}'}}",
    ],
)
def test_a_vip_of_any_form_on_a_worker_is_refused(text: str, tmp_path: Path) -> None:
    (line,) = refused(tmp_path, text, "worker/70-x.yaml.j2")
    assert "VIP" in line and line.endswith("to a worker; move it to a patch in controlplane/ [vip]")


@pytest.mark.parametrize("text", [VLAN % ("storage", 20, 1500), VLAN % ("bond0.20", 20, 1500)])
def test_a_document_that_describes_the_vlan_again_is_refused(text: str, tmp_path: Path) -> None:
    (line,) = refused(tmp_path, text)
    assert f"describes an interface that {OWN}:23 describes too" in line


def test_a_vlan_above_a_link_that_names_no_mtu_is_refused(tmp_path: Path) -> None:
    text = (VLAN % ("storage", 30, 9000)).replace("bond0", "eth5")
    (line,) = refused(tmp_path, text)
    assert "has packets of 9000 bytes on eth5, which has 1500 where nothing says more; give it 1500 or less" in line
    more = text + "---\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth5\nmtu: 9000\n"
    assert refused(tmp_path, more) == ()
