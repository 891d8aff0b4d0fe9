"""Values that Talos's merge passes over because they are zero, while an earlier one stays."""

from pathlib import Path
from typing import Any

import pytest

from tests.machineconfig.stacks import refused_and_warned

FLANNEL: dict[str, Any] = {"network__cni": "flannel"}
ACTION = "apiVersion: v1alpha1\nkind: NetworkDefaultActionConfig\ningress: %s\n"
RULES = (
    "apiVersion: v1alpha1\nkind: NetworkRuleConfig\nname: api\nportSelector: {ports: [50000], protocol: tcp}\n"
    "ingress: [{subnet: 0.0.0.0/0}]\n"
)
NIC = "machine: {network: {interfaces: [{interface: eth1, mtu: %s, vlans: [{vlanId: 5, mtu: %s}]}]}}\n"


@pytest.mark.parametrize(
    ("earlier", "later", "message"),
    [
        (
            "cluster: {proxy: {mode: ipvs}}",
            "cluster: {proxy: {mode: ''}}",
            'cluster.proxy.mode: "" does not unset anything',
        ),
        (
            "cluster: {proxy: {mode: ipvs}}",
            "cluster: {proxy: {mode: }}",
            "cluster.proxy.mode: nothing does not unset anything",
        ),
        ("machine: {env: {A: b}}", "machine: {env: {A: ''}}", 'machine.env.A: "" does not unset anything'),
        ("machine: {env: {A: b}}", "machine: {env: {}}", "machine.env: an empty map does not unset anything"),
        (
            "machine: {certSANs: [a.example.net]}",
            "machine: {certSANs: []}",
            "machine.certSANs: an empty list does not unset anything",
        ),
        (
            "machine: {kubelet: {extraConfig: {maxPods: 9}}}",
            "machine: {kubelet: {extraConfig: {maxPods: 0}}}",
            "machine.kubelet.extraConfig.maxPods: 0 does not unset anything",
        ),
        (NIC % (9000, 9000), NIC % (0, 9000), "machine.network.interfaces[1].mtu: 0 does not unset anything"),
        (NIC % (9000, 9000), NIC % (9000, 0), "machine.network.interfaces[1].vlans[0].mtu: 0 does not unset anything"),
    ],
)
def test_a_zero_over_an_earlier_value_is_refused(earlier: str, later: str, message: str, tmp_path: Path) -> None:
    files = {"controlplane/70-a.yaml": f"{earlier}\n", "node/cp1/70-b.yaml": f"{later}\n"}
    (line,), _ = refused_and_warned(tmp_path, files, **FLANNEL)
    assert line.startswith(f"patches/node/cp1/70-b.yaml:1 (cp1): {message}, and patches/")
    assert line.endswith("[empty-unsets-nothing]")


def test_a_word_that_is_the_zero_value_is_refused_too(tmp_path: Path) -> None:
    files = {"all/70-a.yaml": ACTION % "block" + "---\n" + RULES, "node/cp1/70-b.yaml": ACTION % "accept"}
    lines = refused_and_warned(tmp_path, files)[0]
    assert (
        "patches/node/cp1/70-b.yaml:3 (cp1): NetworkDefaultActionConfig:ingress: accept does not unset anything, and"
        " patches/all/70-a.yaml:3 stays; delete it with {$patch: delete} [empty-unsets-nothing]"
    ) in lines


def test_a_key_with_nothing_behind_it_is_refused_in_a_block_too(tmp_path: Path) -> None:
    files = {
        "controlplane/70-a.yaml": "cluster: {proxy: {mode: ipvs}}\n",
        "controlplane/71-b.yaml": "cluster:\n  proxy:\n    mode: # as Talos has it\n    disabled: false\n",
    }
    (line,), _ = refused_and_warned(tmp_path, files, **FLANNEL)
    assert line.startswith(
        "patches/controlplane/71-b.yaml:3 (cp1): cluster.proxy.mode: nothing does not unset anything"
    )


def test_what_stays_may_be_what_talos_generates(tmp_path: Path) -> None:
    files = {"controlplane/70-a.yaml": "cluster: {apiServer: {admissionControl: []}}\n"}
    (line,), _ = refused_and_warned(tmp_path, files)
    assert (
        "cluster.apiServer.admissionControl: an empty list does not unset anything, and what Talos generates stays"
        in line
    )


def test_the_cure_inside_an_entry_of_a_list_that_talos_generates_is_to_delete_the_list(tmp_path: Path) -> None:
    entry = "cluster: {apiServer: {admissionControl: [{name: PodSecurity, configuration: {exemptions: {%s}}}]}}\n"
    (line,), _ = refused_and_warned(tmp_path, {"controlplane/70-a.yaml": entry % "namespaces: []"})
    cure = (
        "leave it out, or delete cluster.apiServer.admissionControl with {$patch: delete} and write it in a later patch"
    )
    assert f"an empty list does not unset anything, and what Talos generates stays; {cure} [" in line
    deleted = "cluster: {apiServer: {admissionControl: {$patch: delete}}}\n"
    files = {"controlplane/70-a.yaml": deleted, "controlplane/71-b.yaml": entry % "namespaces: [], usernames: [a]"}
    assert refused_and_warned(tmp_path, files) == ((), ())


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("", "cluster: {proxy: {mode: ''}}"),
        ("machine: {kubelet: {extraMounts: []}}", "machine: {env: {A: ''}, sysctls: {}}"),
        ("machine: {features: {diskQuotaSupport: true}}", "machine: {features: {diskQuotaSupport: false}}"),
        ("cluster: {proxy: {mode: ''}}", "cluster: {proxy: {mode: ipvs}}"),
        ("", "machine: {}"),
        ("", "machine: {network: {}, kubelet: {nodeIP: {}}, install: {}}"),
        ("", "machine:\n  network:\n    # nameservers:\n  kubelet:\n    extraArgs:"),
        ("", "machine: {registries: {mirrors: {docker.io: {}}}}"),
        ("machine: {env: {A: b}}", "machine: {env: {A: {$patch: delete}}}"),
        ("cluster: {apiServer: {extraArgs: {a: b}}}", "cluster: {apiServer: {extraArgs: {a: ''}}}"),
        (
            "machine: {kubelet: {extraConfig: {failSwapOn: true}}}",
            "machine: {kubelet: {extraConfig: {failSwapOn: false}}}",
        ),
    ],
)
def test_a_zero_that_counts_or_overrides_nothing_is_clean(earlier: str, later: str, tmp_path: Path) -> None:
    files = {"controlplane/70-a.yaml": f"{earlier}\n", "node/cp1/70-b.yaml": f"{later}\n"}
    files = {name: text for name, text in files.items() if text.strip()}
    assert refused_and_warned(tmp_path, files, **FLANNEL) == ((), ())


def test_a_value_that_a_later_patch_sets_is_no_longer_the_earlier_one(tmp_path: Path) -> None:
    files = {
        "all/70-a.yaml": "machine: {env: {A: b}}\n",
        "controlplane/70-b.yaml": "machine: {env: {A: ''}}\n",
        "node/cp1/70-c.yaml": "machine: {env: {A: c}}\n",
    }
    assert refused_and_warned(tmp_path, files) == ((), ())
