"""What later patches do to what is there, beyond the recorded cases."""

import re

import pytest

from machinery import ConfigError, check_cluster_endpoint
from tests.machinery.texts import configured, generated, values

VOLUME = """
    apiVersion: v1alpha1
    kind: UserVolumeConfig
    name: data
    provisioning:
      diskSelector: {match: system_disk}
      grow: true
      minSize: 10GB
      maxSize: 20GB
"""


def test_a_patch_that_does_not_mention_provisioning_takes_its_selector_and_smallest_size() -> None:
    other = "\n    apiVersion: v1alpha1\n    kind: UserVolumeConfig\n    name: data\n    filesystem: {type: xfs}\n"
    volume = values(configured(VOLUME, other), "UserVolumeConfig")
    assert volume["provisioning"] == {"grow": True, "maxSize": "20GB"}


def test_documents_of_another_name_stay_apart() -> None:
    configuration = configured(VOLUME, VOLUME.replace("name: data", "name: other"))
    assert [document.name for document in configuration.of_kind("UserVolumeConfig")] == ["data", "other"]


def test_interfaces_merge_by_selector_unless_it_says_physical() -> None:
    first = "machine: {network: {interfaces: [{deviceSelector: {%s}, dhcp: true}]}}\n"
    second = "machine: {network: {interfaces: [{deviceSelector: {%s}, mtu: 9000}]}}\n"
    for selector, count in (("driver: virtio", 1), ("physical: true", 2)):
        configuration = configured(first % selector, second % selector)
        assert len(configuration.find("machine", "network", "interfaces")) == count


def test_vlans_merge_by_id() -> None:
    patch = "machine: {network: {interfaces: [{interface: eth0, vlans: [{vlanId: %d, %s}]}]}}\n"
    configuration = configured(patch % (5, "dhcp: true"), patch % (5, "mtu: 1400"), patch % (6, "mtu: 1400"))
    vlans = configuration.find("machine", "network", "interfaces")[0]["vlans"]
    assert vlans == [{"routes": [], "vlanId": 5, "dhcp": True, "mtu": 1400}, {"routes": [], "vlanId": 6, "mtu": 1400}]


def test_an_empty_text_changes_nothing_but_false_does() -> None:
    configuration = configured("machine:\n  install: {disk: '', wipe: true}\n", "machine:\n  install: {wipe: false}\n")
    assert configuration.find("machine", "install", "disk") == "/dev/sda"
    assert configuration.find("machine", "install", "wipe") is False


def test_an_empty_label_does_not_replace_one_and_an_argument_does() -> None:
    labels = "machine: {nodeLabels: {zone: '%s'}, kubelet: {extraArgs: {v: '%s'}}}\n"
    configuration = configured(labels % ("a", "4"), labels % ("", ""))
    assert configuration.find("machine", "nodeLabels", "zone") == "a"
    assert configuration.find("machine", "kubelet", "extraArgs") == {"v": ""}


def test_certificates_are_replaced_whole() -> None:
    configuration = configured("machine: {ca: {crt: YWJj}}\n")
    assert configuration.key_pair("machine", "ca").crt == "abc"
    assert configuration.key_pair("machine", "ca").key == ""


def test_the_endpoint_keeps_the_parts_that_a_patch_leaves_out() -> None:
    patch = "cluster: {controlPlane: {endpoint: 'https://other:7443/path'}}\n"
    configuration = configured(patch, "cluster: {controlPlane: {endpoint: 'https://third'}}\n")
    assert configuration.endpoint == "https://third/path"


def test_documents_that_exclude_each_other_are_refused() -> None:
    link = "apiVersion: v1alpha1\nkind: %s\nname: eth0\n"
    with pytest.raises(ConfigError, match="VLANConfig/eth0 and LinkConfig/eth0 exclude each other"):
        configured(link % "LinkConfig", link % "VLANConfig")


def test_routing_rules_cannot_be_merged() -> None:
    rule = "apiVersion: v1alpha1\nkind: RoutingRuleConfig\nname: '1000'\ntable: '100'\n"
    with pytest.raises(ConfigError, match="src cannot be merged"):
        configured(rule, rule)


def test_patches_do_not_change_each_other_or_later_nodes() -> None:
    patch = "machine: {certSANs: [a], nodeLabels: {k: v}}\n"
    first = generated(patch, "machine: {certSANs: [b], nodeLabels: {k: w}}\n")
    assert first != generated(patch)
    assert generated(patch, "machine: {certSANs: [b], nodeLabels: {k: w}}\n") == first


def test_a_patch_says_which_one_is_wrong() -> None:
    with pytest.raises(ConfigError) as caught:
        generated("machine: {certSANs: [a]}\n", "machine: {certSAN: [a]}\n")
    assert str(caught.value).startswith("config_patches[1]: ")


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ('[{"op":"remove","path":"/machine/nothing"}]', r"operation 0 \(remove /machine/nothing\)"),
        ('[{"op":"test","path":"/machine/type","value":"worker"}]', "differs from what it tests for"),
        ('[{"op":"add","path":"/machine/bogus","value":1}]', "machine.bogus is not a key"),
        ("- op: jump\n  path: /machine\n", "not known"),
    ],
)
def test_a_json_patch_that_does_not_fit_is_refused(patch: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        generated(patch, talos_version="v1.11")


def test_json_patches_add_move_copy_and_remove_up_to_contract_1_11() -> None:
    operations = (
        '[{"op":"add","path":"/machine/certSANs/-","value":"a"},{"op":"copy","from":"/machine/certSANs/0",'
        '"path":"/machine/certSANs/0"},{"op":"move","from":"/machine/kubelet/image","path":"/machine/install/image"},'
        '{"op":"remove","path":"/machine/nodeLabels"}]'
    )
    configuration = configured(operations, talos_version="v1.11")
    assert configuration.find("machine", "certSANs") == ["a", "a"]
    assert configuration.install_image == "ghcr.io/siderolabs/kubelet:v1.33.0"
    assert configuration.find("machine", "nodeLabels") is None


@pytest.mark.parametrize(
    "endpoint", ["http://a:6443", "https://:6443", "https://a:0", "https://a:x", "a", "https://fd00::1:6443"]
)
def test_a_cluster_endpoint_must_be_an_https_url(endpoint: str) -> None:
    with pytest.raises(ConfigError, match="cluster_endpoint is invalid"):
        check_cluster_endpoint(endpoint)


@pytest.mark.parametrize("version", ["", "v1", "one", "v1.x", "1.13-alpha"])
def test_a_talos_version_must_be_one(version: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f'"{version}" is not a Talos version')):
        generated(talos_version=version)


def test_a_contract_before_1_8_is_not_known() -> None:
    with pytest.raises(ConfigError, match=r"contract v1.7 is older than v1.8"):
        generated(talos_version="v1.7.0")


@pytest.mark.parametrize("patch", ["", "machine:{token:hush}", "@hush"])
def test_a_patch_in_one_word_is_taken_for_a_file_and_not_shown(patch: str) -> None:
    with pytest.raises(ConfigError, match="no such file") as caught:
        generated(patch)
    assert "hush" not in str(caught.value)


def test_a_rule_of_a_later_patch_replaces_the_last_of_its_image() -> None:
    head = "apiVersion: v1alpha1\nkind: ImageVerificationConfig\nrules:\n"
    first = head + "  - {image: a/*, skip: true}\n  - {image: a/*, deny: true}\n  - {image: b/*, skip: true}\n"
    found = values(
        configured(first, head + "  - {image: a/*, keyless: {issuer: i, subject: s}}\n"), "ImageVerificationConfig"
    )
    kinds = [tuple(set(rule) - {"image"}) for rule in found["rules"]]
    assert kinds == [("skip",), ("keyless",), ("skip",)]


@pytest.mark.parametrize("value", ["{a: 2024-01-01}", "{a: {1: b}}"])
def test_nothing_can_be_patched_after_what_talos_cannot_copy(value: str) -> None:
    patch = f"machine: {{kubelet: {{extraConfig: {value}}}}}\n"
    generated(patch)
    with pytest.raises(ConfigError, match="cannot stand before another patch"):
        generated(patch, "machine: {token: a}\n")
