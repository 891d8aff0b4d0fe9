"""What a living machine does not read again."""

from typing import Any

import pytest

from machineconfig.checks.living import changed_bootstrap_fields
from machineconfig.generation import arguments
from machineconfig.model import Patch
from machineconfig.placeholder import placeholder_bundle
from machinery import generate_configuration
from tests.machineconfig.stacks import rendered, stack

VOLUME = (
    "apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: data\nprovisioning: {minSize: 1GB, "
    "diskSelector: {match: system_disk}%s}\n"
)

STATE = (
    "apiVersion: v1alpha1\nkind: VolumeConfig\nname: STATE\n"
    "encryption: {provider: luks2, keys: [{slot: 0, nodeID: {}}]}\n"
)
DATA = VOLUME % "" + "encryption: {provider: luks2, keys: [{slot: 0, nodeID: {}}]}\n"
OLD_STATE = "machine: {systemDiskEncryption: {state: {provider: luks2, keys: [{slot: 0, nodeID: {}}]}}}"


def configuration(*texts: str, node: str = "cp1", **changes: Any) -> str:
    topology = stack(**changes)
    patches = (*rendered(topology, node), *(Patch(f"node/{node}/70-x.yaml", text) for text in texts if text.strip()))
    return generate_configuration(arguments(topology, topology.node(node), patches, placeholder_bundle()))


def said(old: str, new: str) -> list[str]:
    return [field.path for field in changed_bootstrap_fields(old, new)]


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("", "cluster: {network: {dnsDomain: b.example}}", "cluster.network.dnsDomain"),
        ("", "cluster: {network: {podSubnets: [10.9.0.0/16]}}", "cluster.network.podSubnets"),
        ("", "cluster: {network: {serviceSubnets: [10.9.0.0/16]}}", "cluster.network.serviceSubnets"),
        ("", "cluster: {network: {cni: {name: custom}}}", "cluster.network.cni"),
        ("", "cluster: {clusterName: other}", "cluster.clusterName"),
        ("", "cluster: {id: b3RoZXI=}", "cluster.id"),
        ("", "cluster: {etcd: {ca: {crt: eA==, key: eA==}}}", "cluster.etcd.ca"),
        ("", "machine: {install: {disk: /dev/vdb}}", "machine.install.disk"),
        (
            "",
            "machine: {kubelet: {extraConfig: {registerWithTaints: [{key: gpu}]}}}",
            "machine.kubelet.extraConfig.registerWithTaints",
        ),
        (VOLUME % "", VOLUME.replace("1GB", "2GB") % "", "UserVolumeConfig/data:provisioning"),
        (
            "cluster: {inlineManifests: [{name: a, contents: x}]}",
            "cluster: {inlineManifests: [{name: a, contents: y}]}",
            "cluster.inlineManifests",
        ),
        ("", STATE, "VolumeConfig/STATE:encryption"),
        (STATE, "", "VolumeConfig/STATE:encryption"),
        ("", STATE.replace("STATE", "EPHEMERAL"), "VolumeConfig/EPHEMERAL:encryption"),
        ("", STATE.replace("STATE", "IMAGECACHE"), "VolumeConfig/IMAGECACHE:encryption"),
        (STATE, STATE.replace("luks2,", "luks2, cipher: aes-xts-plain64,"), "VolumeConfig/STATE:encryption"),
        (STATE, STATE.replace("nodeID: {}", "static: {passphrase: hunter2}"), "VolumeConfig/STATE:encryption.keys"),
        ("", OLD_STATE, "machine.systemDiskEncryption.state"),
        (OLD_STATE, "", "machine.systemDiskEncryption.state"),
        (VOLUME % "", DATA, "UserVolumeConfig/data:encryption"),
        (DATA, VOLUME % "", "UserVolumeConfig/data:encryption"),
    ],
)
def test_a_field_that_is_read_once_is_named_when_it_changes(old: str, new: str, path: str) -> None:
    assert said(configuration(f"{old}\n"), configuration(f"{new}\n")) == [path]


def test_nothing_is_said_where_nothing_changed() -> None:
    assert said(configuration(), configuration()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "machine: {sysctls: {vm.max_map_count: '262144'}}"),
        ("", "cluster: {apiServer: {extraArgs: {v: '2'}}}"),
        ("", "cluster: {inlineManifests: [{name: a, contents: x}]}"),
        (VOLUME % "", VOLUME % ", maxSize: 5GB"),
        ("", VOLUME % ""),
        ("", DATA),
        (DATA, ""),
        (OLD_STATE, STATE),
    ],
)
def test_what_a_living_machine_takes_is_not_named(old: str, new: str) -> None:
    assert said(configuration(f"{old}\n"), configuration(f"{new}\n")) == []


def test_a_line_says_what_will_not_happen_and_shows_no_value() -> None:
    new = configuration("cluster: {inlineManifests: [{name: a, contents: hunter2}]}\n")
    (field,) = changed_bootstrap_fields(new, new.replace("hunter2", "hunter3"))
    assert str(field) == (
        "cluster.inlineManifests has changed: Talos creates manifests that are missing and updates none:"
        " `talosctl upgrade-k8s` or kubectl apply does"
    )


def test_encryption_says_the_wipe_that_it_takes_and_keys_that_one_must_stay() -> None:
    (wipe,) = changed_bootstrap_fields(configuration(), configuration(STATE))
    assert str(wipe).endswith("this needs a wipe: talosctl reset --system-labels-to-wipe STATE")
    new = STATE.replace("nodeID: {}", "static: {passphrase: hunter2}")
    (keys,) = changed_bootstrap_fields(configuration(STATE), configuration(new))
    assert str(keys).endswith("one of the old must stay") and "hunter2" not in str(keys)


def test_a_text_that_is_no_configuration_says_nothing() -> None:
    assert said("a: [", configuration()) == []
