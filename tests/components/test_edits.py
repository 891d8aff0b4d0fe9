"""A stack file against what is on record of its cluster."""

import copy
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from components.edits import Edits, Words
from components.record import Images, Record, Running
from findings import Finding
from machineconfig import Plan, make_plan
from machineconfig.checks.configuration import made

ROOT = Path(__file__).parents[2]
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
PARENT = "urn:pulumi:lab::talos-stacks::talos-stacks:index:Cluster$talos-stacks:index:BringUp"
Edit = Callable[[Any], Any]


def raw() -> Any:
    return yaml.safe_load((ROOT / "Pulumi.lab.yaml").read_text())["config"]["talos-stacks:cluster"]


def plan(edit: Edit = lambda cluster: None, patches: Path = ROOT / "patches") -> Plan:
    cluster = raw()
    edit(cluster)
    return make_plan(cluster, patches=patches)


def state(
    applied: Plan, *, bootstrapped: bool = True, contract: str | None = "v1.13", runs: str | None = "v1.13.9"
) -> list[dict[str, Any]]:
    """What the engine has on record of a plan that was brought up; the machines are known to run the version `runs`."""

    def resource(kind: str, name: str, **properties: Any) -> dict[str, Any]:
        return {"urn": f"{PARENT}${kind}::{name}", "type": kind, **properties}

    found: list[dict[str, Any]] = [{"urn": f"{PARENT}::bring-up", "type": "talos-stacks:index:BringUp"}]
    found[0] |= {"outputs": {"contract": contract}} if contract else {}
    for node in applied.topology.nodes:
        final = made(applied.topology, node, applied.patches[node.name])
        assert not isinstance(final, Finding)
        text = {**SECRET, "plaintext": yaml.safe_dump(final.text, default_style='"', width=10**9).strip()}
        inputs = {"node": str(node.address), "machineConfigurationInput": text}
        found.append(resource("talos:machine/configurationApply:ConfigurationApply", node.name, inputs=inputs))
        if runs:
            outputs = {"version": runs, "schematic": applied.schematics[node.name].id}
            found.append(resource("talos-lifecycle:index:Release", node.name, outputs=outputs))
    if bootstrapped:
        client = {"host": applied.topology.endpoint.url}
        found += [
            resource("talos:machine/bootstrap:Bootstrap", "bootstrap", inputs={}),
            resource(
                "talos:cluster/kubeconfig:Kubeconfig", "kubeconfig", outputs={"kubernetesClientConfiguration": client}
            ),
        ]
    return found


def edits(edit: Edit, *, then: Plan | None = None, patches: Path = ROOT / "patches", **options: Any) -> Edits:
    record = Record()
    record.read(pulumi.StateMigrationArgs(PARENT, copy.deepcopy(state(then or plan(), **options))))
    return Edits(record, plan(edit, patches), Words(leaves="it stays", readdressed="it keeps the old one"))


def refused(edit: Edit, **options: Any) -> list[str]:
    return [str(fault) for fault in edits(edit, **options).refused]


def warned(edit: Edit, **options: Any) -> list[str]:
    found = edits(edit, **options)
    assert found.refused == []
    return [str(fault) for fault in found.warnings]


def versions(**changes: str) -> Edit:
    return lambda cluster: cluster["versions"].update(changes)


def without(*names: str) -> Edit:
    return lambda cluster: cluster.update(nodes=[node for node in cluster["nodes"] if node["name"] not in names])


def node(index: int, **changes: str) -> Edit:
    return lambda cluster: cluster["nodes"][index].update(changes)


def test_the_same_stack_file_is_neither_refused_nor_warned_of() -> None:
    found = edits(lambda cluster: None)
    assert (found.refused, found.warnings) == ([], [])


def test_those_that_are_missing_are_named_in_the_same_order_whatever_the_order_in_the_state() -> None:
    record = Record()
    record.read(pulumi.StateMigrationArgs(PARENT, state(plan())[::-1]))
    words = Words(leaves="it stays", readdressed="it keeps the old one")
    (fault,) = Edits(record, plan(without("lab-controlplane-02", "lab-controlplane-01")), words).refused
    assert fault.message.startswith(
        "lab-controlplane-01 (127.0.10.11) and lab-controlplane-02 (127.0.10.12) are missing"
    )


def test_of_a_cluster_that_was_not_bootstrapped_nothing_is_said() -> None:
    found = edits(without("lab-controlplane-02", "lab-worker-01"), bootstrapped=False)
    assert (found.refused, found.warnings) == ([], [])


def test_a_cluster_lives_on_when_the_node_of_its_bootstrap_was_retired() -> None:
    found = state(plan(), bootstrapped=False)
    found[0]["outputs"] |= {"bootstrap": "machine_bootstrap"}
    record = Record()
    record.read(pulumi.StateMigrationArgs(PARENT, found))
    assert record.lives


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            without("lab-controlplane-02"),
            "nodes: lab-controlplane-02 (127.0.10.12) is missing, but is one of the 3 control planes",
        ),
        (
            without("lab-controlplane-01", "lab-controlplane-02"),
            "nodes: lab-controlplane-01 (127.0.10.11) and lab-controlplane-02 (127.0.10.12) are missing",
        ),
        (node(0, name="lab-controlplane-09"), "nodes: lab-controlplane-01 (127.0.10.11) is missing"),
        (
            node(2, role="worker"),
            "nodes[2].role: worker is not what lab-controlplane-03 was installed as (controlplane",
        ),
        (
            node(3, role="controlplane"),
            "nodes[3].role: controlplane is not what lab-worker-01 was installed as (worker)",
        ),
        (
            node(1, address="127.0.10.19"),
            "nodes[1].address: 127.0.10.19 is not where lab-controlplane-02 lives (127.0.10.12)",
        ),
        (
            node(4, address="127.0.10.29"),
            "nodes[4].address: 127.0.10.29 is not where lab-worker-02 lives (127.0.10.22)",
        ),
        (versions(contract="v1.12"), "versions.contract: v1.12 is not what this cluster was created with (v1.13)"),
        (versions(kubernetes="v1.35.9"), "versions.kubernetes: v1.35.9 is a minor version or more below v1.36.2"),
    ],
)
def test_what_a_living_cluster_cannot_take_is_refused_with_its_path_and_value(edit: Edit, said: str) -> None:
    (fault,) = refused(edit)
    assert fault.startswith(said)


def test_everything_is_refused_at_once() -> None:
    def edit(cluster: Any) -> None:
        node(1, address="127.0.10.19")(cluster)
        node(4, address="127.0.10.29")(cluster)
        versions(contract="v1.12", kubernetes="v1.34.1")(cluster)
        without("lab-controlplane-03")(cluster)

    assert [fault.partition(":")[0] for fault in refused(edit)] == [
        "nodes",
        "nodes[1].address",
        "nodes[3].address",
        "versions.contract",
        "versions.kubernetes",
    ]


@pytest.mark.parametrize(
    ("then", "now", "words"),
    [
        ("v1.34.2", "v1.36.1", "more than one minor version above v1.34.2"),
        ("v1.33.2", "v1.36.1", "more than one minor version above v1.33.2"),
        ("v1.35.2", "v1.36.1", None),
        ("v1.36.2", "v1.36.1", None),
        ("v1.36.1", "v1.36.2", None),
        ("v1.36.1", "v1.35.4", "a minor version or more below v1.36.1"),
    ],
)
def test_kubernetes_goes_up_one_minor_version_at_a_time(then: str, now: str, words: str | None) -> None:
    found = refused(versions(kubernetes=now), then=plan(versions(kubernetes=then)))
    assert [fault for fault in found if words is None or words not in fault] == []
    assert bool(found) is (words is not None)


@pytest.fixture
def patches(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT / "patches", tmp_path / "patches")


@pytest.mark.parametrize(
    ("patch", "check"),
    [
        ("kubelet:\n    image: ghcr.io/siderolabs/kubelet:v1.34.1\n", "topology-owned"),
        ("install:\n    image: registry.example.internal/installer:v1.13.9\n", "installer"),
    ],
    ids=["kubelet", "installer"],
)
def test_an_image_that_a_patch_sets_with_a_waiver_is_no_edit(patch: str, check: str, patches: Path) -> None:
    (patches / "worker/70-own.yaml").write_text(f"machine:\n  {patch}")

    def waived(cluster: Any) -> None:
        cluster["waivers"] = [{"check": check, "reason": "a node that waits"}]

    assert warned(waived, then=plan(waived, patches), patches=patches) == []


def noted(edit: Edit, **options: Any) -> list[str]:
    found = edits(edit, **options)
    assert (found.refused, found.warnings) == ([], [])
    return found.notes


def test_an_upgrade_is_said_once_with_its_machines_and_what_happens_to_them() -> None:
    (said,) = noted(versions(talos="v1.13.10"))
    assert said == (
        "Talos v1.13.9 to v1.13.10 on lab-controlplane-01, lab-controlplane-02, lab-controlplane-03, lab-worker-01 and"
        " lab-worker-02: each installs it, its pods are moved away and it reboots; one control plane at a time, then 1"
        " worker at a time"
    )


def test_only_machines_that_run_something_else_are_named() -> None:
    found = edits(versions(talos="v1.13.10"))
    for name in ("lab-controlplane-01", "lab-controlplane-02", "lab-controlplane-03", "lab-worker-01"):
        found.record.releases[name] = Running("v1.13.10", found.plan.schematics[name].id)
    (said,) = found.notes
    assert said.startswith("Talos v1.13.9 to v1.13.10 on lab-worker-02: ")


def test_what_a_refresh_saw_is_brought_back() -> None:
    (said,) = noted(lambda cluster: None, runs="v1.13.7")
    assert said.startswith("Talos v1.13.7 to v1.13.9 on lab-controlplane-01, ")


@pytest.mark.parametrize(
    ("runs", "wanted", "why"),
    [
        ("v1.11.6", "v1.13.9", "it runs v1.11.6, and goes up one minor version at a time: to the newest v1.12 first"),
        ("v1.14.2", "v1.12.9", "it runs v1.14.2, and goes back one minor version at most"),
    ],
)
def test_a_step_that_talos_does_not_take_is_refused(runs: str, wanted: str, why: str) -> None:
    def now(cluster: Any) -> None:
        versions(talos=wanted, kubernetes="v1.34.1", contract="v1.12")(cluster)

    (fault,) = refused(now, then=plan(now), runs=runs, contract="v1.12")
    assert fault == (
        f"versions.talos: {wanted} cannot be given to lab-controlplane-01, lab-controlplane-02, lab-controlplane-03,"
        f" lab-worker-01 and lab-worker-02; {why}"
    )


def test_a_talos_that_does_not_take_the_kubernetes_that_runs_is_refused_also_where_both_change() -> None:
    def then(cluster: Any) -> None:
        versions(talos="v1.13.9", kubernetes="v1.31.2")(cluster)

    (fault,) = refused(versions(talos="v1.14.1", kubernetes="v1.32.1"), then=plan(then))
    assert fault.startswith("versions.talos: v1.14.1 does not take Kubernetes v1.31.2, which lab-controlplane-01, ")
    assert fault.endswith("run (it takes v1.32 to v1.37); bring Kubernetes there first, in a run of its own")


def test_machines_of_which_nothing_is_known_are_said_to_be_asked() -> None:
    (said,) = warned(lambda cluster: None, runs=None)
    assert said.startswith("versions.talos: v1.13.9 is not known to run on lab-controlplane-01, ")
    assert "`up` asks them, and upgrades those that run something else" in said


def test_of_many_machines_five_are_counted_out() -> None:
    def many(cluster: Any) -> None:
        last = cluster["nodes"][-1]
        cluster["nodes"] += [last | {"name": f"w-{n}", "address": f"127.0.10.{n}"} for n in range(30, 40)]

    def now(cluster: Any) -> None:
        many(cluster)
        versions(talos="v1.13.10")(cluster)

    (said,) = noted(now, then=plan(many))
    assert "lab-controlplane-01, lab-controlplane-02, lab-controlplane-03, lab-worker-01 and 11 more" in said


def test_other_extensions_are_an_upgrade_too() -> None:
    (said,) = noted(lambda cluster: cluster["images"]["default"]["extensions"].pop())
    assert re.match(r"Talos v1\.13\.9 with other extensions or kernel arguments \(\w{8} to \w{8}\) on lab-", said)


def test_a_worker_that_leaves_is_said_with_what_becomes_of_it_and_its_node() -> None:
    (said,) = warned(without("lab-worker-01"))
    assert said.startswith("nodes: lab-worker-01 (127.0.10.21) is no longer among them: it stays, and its Node stays")


def test_a_kubeconfig_that_leads_elsewhere_is_said_with_the_command_that_makes_a_new_one() -> None:
    (said,) = warned(lambda cluster: cluster["network"].update(vip="127.0.10.6"))
    assert said.startswith(
        "endpoint: https://127.0.10.6:6443 is not the endpoint in the output kubeconfig (https://127.0.10.5"
    )
    assert f"`pulumi state delete --force '{PARENT}$talos:cluster/kubeconfig:Kubeconfig::kubeconfig'`" in said


def test_a_contract_that_is_not_on_record_yet_is_taken_from_the_stack_file() -> None:
    assert refused(versions(contract="v1.12"), contract=None) == []


def test_no_secret_is_in_what_a_record_shows() -> None:
    record = edits(lambda cluster: None).record
    assert "key:" not in repr(record) and "token" not in repr(record)


def test_images_are_read_of_the_machine_and_of_nothing_that_looks_alike() -> None:
    text = "machine:\n    files:\n        - content: |\n            install:\n                image: no\n"
    assert Images.of(text) == Images("", "")
    text += (
        "    install:\n        disk: /dev/sda\n        extensions:\n            - image: no\n        image: 'yes:v1'\n"
    )
    assert Images.of(text) == Images("yes:v1", "")
