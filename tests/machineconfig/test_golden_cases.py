"""False alarms are faults: what the real provider made of recorded patches and Talos takes has no finding either."""

from collections.abc import Iterator
from typing import Any

import pytest

from machineconfig import Patch
from machineconfig.checks import final_findings, patch_findings
from tests.machinery.golden import CASES
from topology import Topology, load

ADDRESSES = {
    "interfaces-bond": "10.1.0.11",
    "kubelet-valid-subnets": "10.0.0.11",
    "etcd-advertised-subnets": "10.0.0.11",
    "subnets-replace": "10.0.0.11",
}
"""Addresses of the nodes that the cases' own patches speak of; the others have 192.168.1.121."""
VALID = [case for case in CASES if case.get("talosctl_validate") == "ok"]
REFUSED = [case for case in CASES if case.get("talosctl_validate") not in ("ok", None)]
NOT_MADE = [case for case in CASES if "error" in case and "endpoint" not in case["name"]]
"""A wrong endpoint is the topology's affair."""

HAZARDS: dict[str, tuple[str, str]] = {
    "kubelet-extra-mounts-append": ("list-doubles", "Talos mounts the folder twice, one mount over the other"),
    "patch-replace-list-item": ("patch-word", "Talos writes `$patch: replace` into the audit policy"),
    "node-taints-labels": ("worker-taint", "Kubernetes refuses a worker that taints itself, and its labels with it"),
}
"""Cases that Talos takes and that do something else than is written: the one check that must speak, and why."""


def topology(case: dict[str, Any]) -> Topology:
    """A stack for the case's arguments: one control plane, and the case's node if it is a worker."""
    args, name = case["args"], "cp-01"
    minor = ".".join(args["talosVersion"].removeprefix("v").split(".")[:2])
    endpoint = args["clusterEndpoint"] + ("" if args["clusterEndpoint"].count(":") > 1 else ":443")
    address = ADDRESSES.get(case["name"], "192.168.1.121")
    network = address.rpartition(".")[0]
    vip = "192.168.1.120" if any("vip" in text.lower() for text in case["patches"]) else None
    nodes = [{"name": name, "role": "controlplane", "address": address, "installDisk": "/dev/disk/by-id/x"}]
    if args["machineType"] == "worker":
        nodes = [{**nodes[0], "name": "cp-02", "address": f"{network}.122"}, {**nodes[0], "role": "worker"}]
    # The topology refuses the Kubernetes of the one case that is there to be too new.
    kubernetes = "v1.33.0" if case["name"] == "error-kubernetes-version-too-new" else args["kubernetesVersion"]
    return load(
        {
            **_said_by_patches(case),
            "name": args["clusterName"],
            "versions": {"talos": f"v{minor}.0", "kubernetes": kubernetes, "contract": f"v{minor}"},
            "secrets": {"generate": True},
            "endpoint": endpoint,
            "network": {
                "nodes": f"{network}.0/24",
                "vip": vip,
                "interface": "eth0",
                **_networks_said_by_patches(case),
            },
            "platform": {"kind": "bare-metal"},
            "nodes": nodes,
        }
    )


def _said_by_patches(case: dict[str, Any]) -> dict[str, Any]:
    """What the case's patches say and a stack file would: so that the stack is one in which they are right."""
    cluster = _cluster(case)
    return {"allowSchedulingOnControlPlanes": cluster.get("allowSchedulingOnControlPlanes") or False}


def _networks_said_by_patches(case: dict[str, Any]) -> dict[str, Any]:
    cluster = _cluster(case)
    network = {key: value for key, value in cluster.get("network", {}).items() if key != "cni" and value}
    cni = cluster.get("network", {}).get("cni", {}).get("name", "flannel")
    kube_proxy = not cluster.get("proxy", {}).get("disabled", False)
    discovery = cluster.get("discovery", {}).get("enabled", True)
    return {**network, "cni": cni, "kubeProxy": kube_proxy, "discovery": discovery}


def _cluster(case: dict[str, Any]) -> dict[str, Any]:
    main: dict[str, Any] = next((each for each in case.get("documents", ()) if "kind" not in each), {})
    found: dict[str, Any] = main.get("cluster", {})
    return found


def rules(case: dict[str, Any]) -> set[str]:
    stack = topology(case)
    patches = [Patch("all/60-certificates.yaml", f"machine: {{certSANs: [{stack.nodes[-1].address}]}}\n")]
    patches += [Patch("all/40-subnets.yaml", text) for text in _subnets(stack)]
    patches += [Patch(f"all/{70 + index}-x.yaml", text) for index, text in enumerate(case["patches"])]
    patches.append(Patch("node/cp-01/15-install.yaml", "machine: {install: {disk: /dev/disk/by-id/x}}\n"))
    rendered = {"cp-01": tuple(patches)}
    found = list(patch_findings(stack, rendered))
    return {finding.check for finding in (*found, *final_findings(stack, rendered, found))}


def _subnets(stack: Topology) -> Iterator[str]:
    """What keeps kubelet and etcd from the VIP, where there is one."""
    if stack.network.vip is not None:
        subnets = f'["{stack.network.nodes[0]}", "!{stack.network.vip}/32"]'
        yield f"machine: {{kubelet: {{nodeIP: {{validSubnets: {subnets}}}}}}}\n"
        if stack.node("cp-01").is_controlplane:
            yield f"cluster: {{etcd: {{advertisedSubnets: {subnets}}}}}\n"


@pytest.mark.parametrize("case", VALID, ids=lambda case: case["name"])
def test_a_recorded_case_that_talos_takes_has_no_finding_or_the_one_it_was_recorded_for(case: dict[str, Any]) -> None:
    assert rules(case) == ({HAZARDS[case["name"]][0]} if case["name"] in HAZARDS else set())


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["name"])
def test_a_recorded_case_that_talosctl_refuses_has_a_finding(case: dict[str, Any]) -> None:
    assert rules(case)


@pytest.mark.parametrize("case", NOT_MADE, ids=lambda case: case["name"])
def test_a_recorded_case_that_the_provider_refuses_has_a_finding(case: dict[str, Any]) -> None:
    assert rules(case)
