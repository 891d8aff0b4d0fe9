"""Reading a configuration as a machine of a release does."""

import pytest

from machinery import ConfigError, parse_configuration
from tests.machinery.texts import configured, generated


def test_it_gives_access_to_what_a_machine_needs() -> None:
    configuration = configured(
        "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: off\nhostname: cp-01\n",
        "apiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: 192.168.1.120\nlink: eth0\n",
    )
    assert configuration.machine_type == "controlplane"
    assert configuration.cluster_name == "demo"
    assert configuration.endpoint == "https://192.168.1.120:6443"
    assert configuration.endpoint_host == "192.168.1.120"
    assert configuration.hostname == "cp-01"
    assert configuration.vip == "192.168.1.120"
    assert configuration.install_image == "ghcr.io/siderolabs/installer:v1.13.0"
    assert configuration.key_pair("machine", "ca").key == "key of os"
    assert configuration.find("cluster", "nothing", "here") is None
    assert configuration.complete


def test_names_and_addresses_are_found_in_the_old_place_too() -> None:
    interface = "{interface: eth0, vlans: [{vlanId: 5, vip: {ip: 10.0.0.1}}]}"
    patch = f"machine: {{network: {{hostname: cp-01, interfaces: [{interface}]}}}}\n"
    configuration = configured(patch, talos_version="v1.11")
    assert (configuration.hostname, configuration.vip) == ("cp-01", "10.0.0.1")


def test_written_again_it_is_the_same_text() -> None:
    text = generated('machine: {files: [{content: "a\\nb\\n", permissions: 0o644, path: /var/a, op: create}]}\n')
    assert parse_configuration(text).text == text


def test_it_hides_what_it_holds() -> None:
    shown = repr(configured())
    assert "trustdinfo" not in shown
    assert "LS0t" not in shown


def test_typed_documents_alone_are_not_enough_to_boot() -> None:
    configuration = parse_configuration("apiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\n")
    assert not configuration.complete
    assert (configuration.hostname, configuration.vip, configuration.endpoint) == ("", "", "")


@pytest.mark.parametrize(
    ("text", "version", "message"),
    [
        (
            "machine: {install: {grubUseUKICmdline: true}}\n",
            "v1.11.6",
            "grubUseUKICmdline is known since Talos 1.12 only",
        ),
        ("apiVersion: v1alpha1\nkind: HostnameConfig\n", "v1.11.6", "known since Talos 1.12 only"),
        (
            "machine: {kubelet: {extraArgs: {a: [b]}}}\n",
            "v1.13.5",
            "machine.kubelet.extraArgs.a must be text, not a list",
        ),
        ("machine: {kubelet: {extraArgs: {a: {}}}}\n", "", "must be one value, not a map"),
        ("machine: {}\nversion: v1alpha1\nextra: 1\n", "", "line 3: extra is not a key"),
        ("machine: {time: {bootTimeout: 5 parsecs}}\n", "", "bootTimeout must be a duration such as 30s"),
        ("machine: {network: {interfaces: [{mtu: -1.5}]}}\n", "", r"interfaces\[0\].mtu must be a whole number"),
        ("machine: {files: [{permissions: '0o644'}]}\n", "", "permissions must be a whole number"),
        ("machine: {ca: {crt: '*'}}\n", "", "machine.ca.crt must be base64"),
        ("cluster: {controlPlane: {endpoint: ':x'}}\n", "", "endpoint must be a URL"),
        ("machine: {nodeLabels: {a: {b: c}}}\n", "", "nodeLabels.a must be one value, not a map"),
        (
            "apiVersion: v1alpha1\nkind: NetworkDefaultActionConfig\ningress: drop\n",
            "",
            "ingress must be one of accept, block",
        ),
        ("apiVersion: v2\nkind: HostnameConfig\n", "", "no document of kind HostnameConfig and apiVersion v2"),
        ("kind: HostnameConfig\n", "", "has no apiVersion"),
        ("apiVersion: v1alpha1\nname: a\n", "", "apiVersion is not a key"),
        ("machine: {}\n---\nmachine: {}\n", "", "a second document"),
        ("machine: {env: 5}\n", "", "machine.env must be a map"),
        ("machine: {certSANs: a}\n", "", "machine.certSANs must be a list"),
        ("machine: {$patch: delete}\n", "", r"machine.\$patch is not a key"),
    ],
)
def test_what_a_release_does_not_take_is_refused_with_its_place(text: str, version: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_configuration(text, version)


def test_a_patch_with_half_a_url_changes_the_other_half() -> None:
    for patch, endpoint in {
        "foo": "https://192.168.1.120:6443/foo",
        "//a.example.net": "https://a.example.net",
        "http:": "http://192.168.1.120:6443",
    }.items():
        assert configured(f"cluster: {{controlPlane: {{endpoint: '{patch}'}}}}\n").endpoint == endpoint


def test_lists_in_arguments_are_taken_from_1_13_6_on() -> None:
    configuration = parse_configuration("machine: {kubelet: {extraArgs: {a: [b, c]}}}\n", "v1.13.6")
    assert configuration.find("machine", "kubelet", "extraArgs") == {"a": ["b", "c"]}


def test_all_wrong_values_of_a_document_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_configuration("machine:\n  install: {wipe: maybe}\n  certSANs: a\n  time: 5\n")
    assert len(caught.value.problems) == 3
