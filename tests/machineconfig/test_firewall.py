"""Whom the ingress firewall keeps out, where a patch makes or changes it."""

from pathlib import Path
from typing import Any

import pytest

from tests.machineconfig.stacks import refused_and_warned

ACTION = "apiVersion: v1alpha1\nkind: NetworkDefaultActionConfig\ningress: %s\n"
RULE = (
    "apiVersion: v1alpha1\nkind: NetworkRuleConfig\nname: %s\nportSelector: {ports: [%s], protocol: %s}\n"
    "ingress: [{subnet: %s}]\n"
)
NODES = "192.168.1.0/24"
OPEN = (
    RULE % ("api", "50000-50001", "tcp", NODES),
    RULE % ("cluster", "2379-2380, 6443, 10250", "tcp", NODES),
)
FIREWALL: dict[str, Any] = {"firewall": {"talosApi": "10.1.0.0/16"}}


def refused(folder: Path, *texts: str, **changes: Any) -> tuple[str, ...]:
    return refused_and_warned(folder, {"controlplane/70-x.yaml.j2": "---\n".join(texts)}, **changes)[0]


def test_a_block_without_rules_says_who_is_kept_from_what(tmp_path: Path) -> None:
    (line,) = refused(tmp_path, ACTION % "block", network__cni="flannel")
    assert line.startswith(
        "patches/controlplane/70-x.yaml.j2:3 (cp1): blocks what no rule lets in, and keeps operators and this program"
        " from the Talos API (50000/tcp), w1 from trustd (50001/tcp), w1 from the Kubernetes API (6443/tcp),"
        " w1 from the pod network (4789/udp); describe the firewall in the stack file instead (firewall)"
    )


def test_a_block_with_rules_for_all_who_must_get_in_is_clean(tmp_path: Path) -> None:
    assert refused(tmp_path, ACTION % "block", *OPEN) == ()


def test_control_planes_must_reach_each_others_etcd(tmp_path: Path) -> None:
    planes = [
        {"name": f"cp{at}", "role": "controlplane", "address": f"192.168.1.12{at}", "cores": 4, "memory": 8192}
        for at in range(1, 4)
    ]
    narrow = RULE % ("etcd", "2379-2380", "tcp", "192.168.1.121/32")
    rest = RULE % ("cluster", "6443, 10250", "tcp", NODES)
    lines = refused(tmp_path, ACTION % "block", OPEN[0], rest, narrow, nodes=planes)
    assert any("(cp1): NetworkRuleConfig/etcd keeps cp2, cp3 from etcd (2379-2380/tcp)" in line for line in lines)
    assert any("(cp2): NetworkRuleConfig/etcd keeps cp3 from etcd (2379-2380/tcp)" in line for line in lines)


def test_an_exception_shuts_out_too(tmp_path: Path) -> None:
    api = (RULE % ("cluster", "2379-2380, 6443, 10250", "tcp", NODES)).replace("24}", "24, except: 192.168.1.122/32}")
    (line,) = refused(tmp_path, ACTION % "block", OPEN[0], api)
    assert "NetworkRuleConfig/cluster keeps w1 from the Kubernetes API (6443/tcp)" in line


@pytest.mark.parametrize("ports", ["1-65535", "32768-60999", "40000-41000"])
@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_a_rule_over_the_ports_of_answers_is_refused_where_the_default_is_accept(
    ports: str, protocol: str, tmp_path: Path
) -> None:
    lines = refused(tmp_path, RULE % ("wide", ports, protocol, NODES))
    assert f"drops the answers to the node's own {protocol.upper()} connections from outside of its subnets" in lines[0]


@pytest.mark.parametrize(
    "texts",
    [
        (RULE % ("wide", "1-65535", "udp", "0.0.0.0/0"),),
        (RULE % ("node-ports", "30000-32767", "tcp", "10.0.0.0/8"),),
        (RULE % ("wireguard", "51820", "udp", "10.0.0.0/8"),),
        (ACTION % "block", *OPEN, RULE % ("wide", "1-65535", "udp", NODES)),
    ],
)
def test_a_rule_that_shuts_out_no_answers_is_clean(texts: tuple[str, ...], tmp_path: Path) -> None:
    assert refused(tmp_path, *texts) == ()


def test_a_rule_alone_shuts_its_ports_to_others(tmp_path: Path) -> None:
    (line,) = refused(tmp_path, RULE % ("kubernetes", "6443", "tcp", "192.168.1.121/32"))
    assert "NetworkRuleConfig/kubernetes keeps w1 from the Kubernetes API (6443/tcp)" in line


def test_the_stack_files_own_firewall_is_clean_until_a_patch_narrows_it(tmp_path: Path) -> None:
    assert refused_and_warned(tmp_path, {}, **FIREWALL)[0] == ()
    files = {"node/cp1/70-x.yaml": RULE % ("talos-api", "50000", "tcp", NODES)}
    (line,) = refused_and_warned(tmp_path, files, **FIREWALL)[0]
    assert line.startswith(
        "patches/node/cp1/70-x.yaml:5 (cp1): NetworkRuleConfig/talos-api keeps operators in 10.1.0.0"
    )


def test_a_rule_of_the_stack_file_that_a_patch_deletes_is_missed(tmp_path: Path) -> None:
    delete = "apiVersion: v1alpha1\nkind: NetworkRuleConfig\nname: talos-api\n$patch: delete\n"
    (line,) = refused_and_warned(tmp_path, {"node/cp1/70-x.yaml": delete}, **FIREWALL)[0]
    assert "blocks what no rule lets in, and keeps operators in 10.1.0.0/16 from the Talos API (50000/tcp)" in line


def test_nodes_that_speak_over_kubespan_pass_the_firewall(tmp_path: Path) -> None:
    span = "apiVersion: v1alpha1\nkind: KubeSpanConfig\nenabled: true\n"
    (line,) = refused(tmp_path, ACTION % "block", span)
    assert "and keeps operators and this program from the Talos API (50000/tcp); describe" in line


def test_subnets_that_are_secrets_are_not_judged(tmp_path: Path) -> None:
    rule = RULE % ("api", "50000", "tcp", "{{ secret('net') | flow }}")
    assert refused(tmp_path, ACTION % "block", rule) == ()
