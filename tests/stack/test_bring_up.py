"""The lab stack, from nothing to a cluster and through its everyday changes."""

import json

import pytest
import yaml

from tests.stack.rehearsal import Json, Rehearsal

pytestmark = pytest.mark.stack

NODES = ["lab-controlplane-01", "lab-controlplane-02", "lab-controlplane-03", "lab-worker-01", "lab-worker-02"]
WORKER_3 = {"name": "lab-worker-03", "role": "worker", "address": "127.0.10.23"}


def like(cluster: Rehearsal, node: Json) -> Json:
    """Return a node with the rest taken from the last node of the stack."""
    last: Json = cluster.topology["nodes"][-1]
    return last | node


def test_up_brings_every_machine_into_the_cluster(cluster: Rehearsal) -> None:
    configured = [entry["machine"] for entry in cluster.journal("configuration")]
    assert sorted(configured) == NODES
    assert [entry["machine"] for entry in cluster.journal("etcd-bootstrap")] == ["lab-controlplane-01"]
    assert {entry["machine"] for entry in cluster.journal("etcd-voting")} >= set(NODES[1:3])
    assert cluster.journal("violation") == []


def test_up_again_changes_nothing(cluster: Rehearsal) -> None:
    before = len(cluster.journal("configuration"))
    assert cluster.steps() == {}
    assert "32 unchanged" in cluster.up()
    assert len(cluster.journal("configuration")) == before


def test_refresh_sees_no_change(cluster: Rehearsal) -> None:
    assert "to update" not in cluster.pulumi("refresh", "--yes", "--non-interactive")
    assert cluster.steps() == {}


def test_the_outputs_are_a_kubeconfig_a_talosconfig_and_a_table(cluster: Rehearsal) -> None:
    outputs = cluster.outputs(secrets=True)
    kubeconfig, talosconfig = yaml.safe_load(outputs["kubeconfig"]), yaml.safe_load(outputs["talosconfig"])
    assert kubeconfig["clusters"][0]["cluster"]["server"] == "https://127.0.10.5:6443"
    context = talosconfig["contexts"][talosconfig["context"]]
    assert context["endpoints"] == ["127.0.10.11", "127.0.10.12", "127.0.10.13"]
    assert len(context["nodes"]) == 5
    assert [node["name"] for node in outputs["nodes"]] == NODES
    assert outputs["endpoint"] == "https://127.0.10.5:6443"


def test_stack_output_alone_shows_nothing_secret(cluster: Rehearsal) -> None:
    outputs = cluster.outputs()
    assert outputs["kubeconfig"] == outputs["talosconfig"] == "[secret]"
    assert "PRIVATE KEY" not in json.dumps(outputs)


def test_the_talos_api_is_never_reached_through_the_vip(cluster: Rehearsal) -> None:
    targets = [
        resource["inputs"].get(key)
        for resource in cluster.state()
        if resource["type"].startswith("talos:")
        for key in ("node", "endpoint")
    ]
    assert targets and "127.0.10.5" not in targets


def test_an_added_node_touches_only_itself(cluster: Rehearsal) -> None:
    cluster.topology["nodes"].append(like(cluster, WORKER_3))
    cluster.save()
    created = {f"{kind} lab-worker-03" for kind in ("Node", "MachineConfig", "Release", "ConfigurationApply")}
    assert cluster.steps() == {**dict.fromkeys(created, "create"), "Stack talos-stacks-lab": "update"} or (
        {name: op for name, op in cluster.steps().items() if "Stack" not in name} == dict.fromkeys(created, "create")
    )
    before = len(cluster.journal("configuration"))
    cluster.up()
    assert [entry["machine"] for entry in cluster.journal("configuration")[before:]] == ["lab-worker-03"]


def test_a_renamed_node_touches_only_itself(cluster: Rehearsal) -> None:
    node = cluster.topology["nodes"][-1]
    old, node["name"] = node["name"], "lab-worker-renamed"
    cluster.save()
    touched = {name.split()[1] for name in cluster.steps() if "Stack" not in name}
    node["name"] = old
    cluster.save()
    assert touched == {"lab-worker-03", "lab-worker-renamed"}


def test_a_removed_worker_touches_only_itself(cluster: Rehearsal) -> None:
    cluster.topology["nodes"].pop()
    cluster.save()
    steps = {name: op for name, op in cluster.steps().items() if "Stack" not in name}
    assert set(steps.values()) == {"delete"}
    assert {name.split()[1] for name in steps} == {"lab-worker-03"}
    before = len(cluster.journal("configuration"))
    cluster.up()
    assert len(cluster.journal("configuration")) == before


def test_another_first_control_plane_moves_neither_bootstrap_nor_machines(cluster: Rehearsal) -> None:
    nodes = cluster.topology["nodes"]
    cluster.topology["nodes"] = [nodes[1], nodes[0], *nodes[2:]]
    cluster.save()
    steps = cluster.steps()
    cluster.topology["nodes"] = nodes
    cluster.save()
    assert "Bootstrap bootstrap" not in steps
    assert not [name for name in steps if name.startswith("ConfigurationApply")]


def test_a_preview_says_what_a_living_cluster_will_not_take_notice_of(cluster: Rehearsal) -> None:
    network = cluster.topology["network"]
    cluster.topology["network"] = network | {"podSubnets": ["10.200.0.0/16"]}
    cluster.save()
    output = cluster.pulumi("preview", "--non-interactive")
    cluster.topology["network"] = network
    cluster.save()
    assert output.partition("Diagnostics:")[2].count("cluster.network.podSubnets has changed: what runs keeps") == 1
    assert cluster.steps() == {}


def test_destroy_is_refused_until_the_state_is_unprotected_and_then_ends_clean(cluster: Rehearsal) -> None:
    output = cluster.pulumi("destroy", "--yes", "--skip-preview", "--non-interactive", fails=True)
    assert "protect" in output
    cluster.pulumi("state", "unprotect", "--all", "--yes")
    cluster.pulumi("destroy", "--yes", "--skip-preview", "--non-interactive")
    assert cluster.state() == []
    assert cluster.journal("violation") == []
