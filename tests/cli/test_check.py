import json
import shutil
from pathlib import Path

from machineconfig.checks import RULES
from tests.cli.conftest import ROOT, Run

TAINT = 'machine:\n  nodeTaints:\n    gpu: "true:NoSchedule"\n'


def test_every_stack_of_the_repo_is_checked_and_nothing_is_wrong(checkout: Path, run: Run) -> None:
    for file in ROOT.glob("Pulumi.*.yaml"):
        shutil.copy(file, checkout)
    shutil.copytree(ROOT / "patches", checkout / "patches", dirs_exist_ok=True)
    code, out, err = run("check")
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"{name}: nothing is wrong" for name in ("homelab", "lab", "prod")]


def test_findings_are_said_with_file_line_nodes_and_remedy(checkout: Path, run: Run) -> None:
    (checkout / "patches/worker/70-taint.yaml").write_text(TAINT)
    code, out, _ = run("check", "--stack", "lab")
    assert code == 2
    assert out.splitlines() == [
        "lab: 1 finding",
        "  patches/worker/70-taint.yaml:3 (lab-worker-01, lab-worker-02): a worker may not give itself the taint gpu;"
        " use machine.kubelet.extraConfig.registerWithTaints, which counts when the node registers [worker-taint]",
    ]


def test_findings_as_json_have_stack_rule_node_file_line_value_and_remedy(checkout: Path, run: Run) -> None:
    (checkout / "patches/worker/70-taint.yaml").write_text(TAINT)
    code, out, _ = run("check", "--output", "json")
    (finding,) = json.loads(out)["findings"]
    assert code == 2
    assert finding == {
        "stack": "lab",
        "rule": "worker-taint",
        "node": "lab-worker-01, lab-worker-02",
        "file": "patches/worker/70-taint.yaml",
        "line": 3,
        "value": "true:NoSchedule",
        "message": "a worker may not give itself the taint gpu",
        "remedy": "use machine.kubelet.extraConfig.registerWithTaints, which counts when the node registers",
    }


def test_faults_of_the_stack_file_are_said_with_their_path(checkout: Path, run: Run) -> None:
    file = checkout / "Pulumi.lab.yaml"
    file.write_text(file.read_text().replace("kubernetes: v1.36.2", "kubernetes: v1.99.0"))
    code, out, _ = run("check")
    assert code == 2
    assert "  Pulumi.lab.yaml: versions.kubernetes: v1.99.0 does not run on Talos v1.13.9" in out
    code, out, _ = run("check", "--output", "json")
    (finding,) = json.loads(out)["findings"]
    assert (finding["file"], finding["path"], finding["value"]) == ("Pulumi.lab.yaml", "versions.kubernetes", "v1.99.0")


def test_a_waived_finding_is_not_said(checkout: Path, run: Run) -> None:
    (checkout / "patches/worker/70-taint.yaml").write_text(TAINT)
    with (checkout / "Pulumi.lab.yaml").open("a") as file:
        file.write("    waivers: [{ rule: worker-taint, reason: the cloud controller takes it away }]\n")
    assert run("check")[:2] == (0, "lab: nothing is wrong\n")


def test_a_stack_that_is_not_there_is_an_error(checkout: Path, run: Run) -> None:
    code, out, err = run("check", "--stack", "nowhere")
    assert (code, out) == (1, "")
    assert err.startswith("error: there is no stack nowhere")


def test_the_checks_are_listed_with_their_ids(checkout: Path, run: Run) -> None:
    code, out, _ = run("check", "--rules")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(RULES)


def test_patches_for_a_node_or_a_zone_of_no_stack_are_found_where_all_stacks_are_known(
    checkout: Path, run: Run
) -> None:
    for level in ("node/lab-worker-1", "zone/dc1", "platform/proxmox", "node/lab-worker-01"):
        (checkout / "patches" / level).mkdir(parents=True, exist_ok=True)
        (checkout / "patches" / level / "70-a.yaml").write_text("machine: {}\n")
    code, out, _ = run("check")
    assert code == 2
    assert out.splitlines() == [
        "lab: nothing is wrong",
        "no stack: 2 findings",
        "  patches/zone/dc1: no stack has a zone called dc1; take it out",
        "  patches/node/lab-worker-1: no stack has a node called lab-worker-1; call it lab-worker-01, or take it out",
    ]
    code, out, _ = run("check", "--output", "json")
    assert [(each["stack"], each["file"]) for each in json.loads(out)["findings"]] == [
        (None, "patches/zone/dc1"),
        (None, "patches/node/lab-worker-1"),
    ]
    assert run("check", "--stack", "lab")[0] == 0


def test_nobody_is_blamed_for_nodes_of_a_stack_that_is_refused(checkout: Path, run: Run) -> None:
    (checkout / "patches/node/other").mkdir(parents=True)
    (checkout / "Pulumi.other.yaml").write_text("config:\n  talos-stacks:cluster: {}\n")
    code, out, _ = run("check")
    assert code == 2 and "no stack" not in out
