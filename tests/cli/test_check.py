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


def test_findings_are_said_with_file_line_nodes_and_cure(checkout: Path, run: Run) -> None:
    (checkout / "patches/worker/70-taint.yaml").write_text(TAINT)
    code, out, _ = run("check", "--stack", "lab")
    assert code == 2
    assert out.splitlines() == [
        "lab: 1 finding",
        "  patches/worker/70-taint.yaml:3 (lab-worker-01, lab-worker-02): a worker may not give itself the taint gpu;"
        " use machine.kubelet.extraConfig.registerWithTaints, which counts when the node registers [worker-taint]",
    ]


def test_findings_as_json_have_stack_check_node_file_line_value_and_cure(checkout: Path, run: Run) -> None:
    (checkout / "patches/worker/70-taint.yaml").write_text(TAINT)
    code, out, _ = run("check", "--output", "json")
    (finding,) = json.loads(out)["findings"]
    assert code == 2
    assert finding == {
        "stack": "lab",
        "check": "worker-taint",
        "nodes": ["lab-worker-01", "lab-worker-02"],
        "file": "patches/worker/70-taint.yaml",
        "line": 3,
        "path": None,
        "value": "true:NoSchedule",
        "message": "a worker may not give itself the taint gpu",
        "cure": "use machine.kubelet.extraConfig.registerWithTaints, which counts when the node registers",
    }


def test_faults_of_the_stack_file_are_said_with_their_path(checkout: Path, run: Run) -> None:
    file = checkout / "Pulumi.lab.yaml"
    file.write_text(file.read_text().replace("kubernetes: v1.36.2", "kubernetes: v1.99.0"))
    code, out, _ = run("check")
    assert code == 2
    assert "  Pulumi.lab.yaml:9: versions.kubernetes: v1.99.0 does not run on Talos v1.13.9" in out
    code, out, _ = run("check", "--output", "json")
    (finding,) = json.loads(out)["findings"]
    assert (finding["file"], finding["line"]) == ("Pulumi.lab.yaml", 9)
    assert (finding["path"], finding["value"]) == ("versions.kubernetes", "v1.99.0")


def test_values_that_the_engine_reads_differently_are_said_with_their_lines(checkout: Path, run: Run) -> None:
    file = checkout / "Pulumi.lab.yaml"
    file.write_text(file.read_text().replace("name: lab\n", "name: lab\n    data: { rack: 010, since: 2024-01-02 }\n"))
    code, out, _ = run("check")
    assert code == 2
    assert out.splitlines() == [
        "lab: 2 findings",
        '  Pulumi.lab.yaml:7: data.rack: 010 is 8 for the engine; write 8, or "010" in quotes if it is text',
        "  Pulumi.lab.yaml:7: data.since: 2024-01-02 is a date for the engine, which adds a time of day;"
        " put it in quotes",
    ]
    code, _, err = run("render", "--stack", "lab")
    assert code == 1 and "Pulumi.lab.yaml:7: data.rack: 010 is 8" in err


def test_a_value_that_is_read_differently_is_said_once(checkout: Path, run: Run) -> None:
    file = checkout / "Pulumi.lab.yaml"
    file.write_text(file.read_text() + "    rollout: { timeout: 0600 }\n")
    code, out, _ = run("check")
    assert code == 2
    assert out.splitlines()[1:] == [
        f"  Pulumi.lab.yaml:{len(file.read_text().splitlines())}: rollout.timeout: 0600 is 384 for the engine;"
        ' write 384, or "0600" in quotes if it is text'
    ]


def test_a_waived_finding_is_not_said(checkout: Path, run: Run) -> None:
    (checkout / "patches/worker/70-taint.yaml").write_text(TAINT)
    with (checkout / "Pulumi.lab.yaml").open("a") as file:
        file.write("    waivers: [{ check: worker-taint, reason: the cloud controller takes it away }]\n")
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


def edit(checkout: Path, old: str, new: str) -> None:
    file = checkout / "Pulumi.lab.yaml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))


def test_json_names_every_node_and_holds_the_warnings(checkout: Path, run: Run) -> None:
    (checkout / "patches/all/70-label.yaml").write_text('machine: {nodeLabels: {"bad key!": ""}}\n')
    edit(checkout, "generate: true", "importFrom: secrets.yaml")
    code, out, err = run("check", "--output", "json")
    (finding,) = json.loads(out)["findings"]
    assert finding["nodes"] == [
        "lab-controlplane-01",
        "lab-controlplane-02",
        "lab-controlplane-03",
        "lab-worker-01",
        "lab-worker-02",
    ]
    (warning,) = json.loads(out)["warnings"]
    assert warning["stack"] == "lab" and warning["path"] == "secrets.importFrom" and warning["nodes"] == []
    assert warning["cure"] in err and code == 2


def test_a_secret_that_a_patch_asks_for_and_the_stack_does_not_have(checkout: Path, run: Run) -> None:
    (checkout / "patches/worker/70-own.yaml.j2").write_text("machine: {sysctls: {a: {{ secret('own') | flow }}}}\n")
    code, out, _ = run("check")
    assert code == 2
    assert out.splitlines()[1:] == [
        "  Pulumi.lab.yaml: talos-stacks:own: is missing, and patches/worker/70-own.yaml.j2 asks for it;"
        " set it with `pulumi config set --secret own --stack lab`"
    ]
    code, out, err = run("check", "--without-secrets", "--output", "json")
    assert code == 0 and not json.loads(out)["findings"]
    assert [warning["path"] for warning in json.loads(out)["warnings"]] == ["talos-stacks:own"]
    assert "warning: Pulumi.lab.yaml: talos-stacks:own: is missing" in err
    edit(checkout, "config:\n", "config:\n  talos-stacks:own: {secure: v1:abc:def}\n")
    assert run("check")[0] == 0
    edit(checkout, "talos-stacks:own", "talos-stacks:owm")
    assert [line.partition("; ")[2] for line in run("check")[1].splitlines()[1:]] == [
        "set it with `pulumi config set --secret own --stack lab`",
        "write talos-stacks:own or take it out",
    ]
    edit(checkout, "config:\n", "environment: [shared]\nconfig:\n")
    assert "asks for it" not in run("check")[1], "it may come from there"


def test_keys_that_nothing_reads_are_said_and_those_of_other_projects_are_not(checkout: Path, run: Run) -> None:
    edit(checkout, "config:\n", "config:\n  talos-stacks:clutser: x\n  pulumi:tags: {a: b}\n")
    code, out, _ = run("check")
    assert code == 2
    assert [line.split(":", 2)[2] for line in out.splitlines()[1:]] == [
        " talos-stacks:clutser: is a key that nothing reads; write talos-stacks:cluster or take it out"
    ]
    edit(checkout, "talos-stacks:clutser", "talos-stacks:proxmoxApiToken")
    code, _, err = run("check")
    assert code == 0, "it may be there before the patch that asks for it, and bare metal has no token"
    assert err.endswith("talos-stacks:proxmoxApiToken: is a key that nothing reads; take it out\n")


def test_the_secrets_to_import_are_read_where_they_are_there(checkout: Path, run: Run) -> None:
    edit(checkout, "generate: true", "importFrom: secrets.yaml")
    code, _, err = run("check")
    assert code == 0
    assert err == (
        "warning: Pulumi.lab.yaml: secrets.importFrom: secrets.yaml is missing, and a new cluster needs it;"
        " bring it before the first `pulumi up`\n"
    )
    file = checkout / "secrets.yaml"
    for text, message in {
        "cluster: [*hunter2\n": "this is not YAML (line 1)",
        "cluster: {id: hunter2}\n": "secrets.importFrom: secrets.yaml cluster.secret is missing",
        "certs: {os: {crt: hunter2}}\n": "certs.os.crt is not base64 of PEM text",
    }.items():
        file.write_text(text)
        code, out, err = run("check")
        assert code == 2 and message in out and "hunter2" not in out + err
    file.write_bytes(b"\xff")
    assert "is not UTF-8 text" in run("check")[1]
    file.unlink()
    file.mkdir()
    assert "is not a regular file; write it into one" in run("check")[1]


def test_a_file_that_cannot_be_read_is_a_finding_of_its_stack_and_hides_no_other(checkout: Path, run: Run) -> None:
    (checkout / "patches/worker/70-taint.yaml").write_text(TAINT)
    text = (checkout / "Pulumi.lab.yaml").read_text()
    for name, broken in {"a": "a: [\n", "b": text + text, "c": "config: {}\n", "d": "config: [a]\n"}.items():
        (checkout / f"Pulumi.{name}.yaml").write_text(broken)
    code, out, err = run("check")
    assert (code, err) == (2, "")
    said = dict(line.strip().split(": ", 1) for line in out.splitlines())
    assert said["lab"] == "1 finding" and said["a"] == "1 finding"
    assert said["Pulumi.a.yaml:1"] == "is not YAML: did not find expected node content; correct the file"
    second = len(text.splitlines()) + text.splitlines().index("config:") + 1
    assert said[f"Pulumi.b.yaml:{second}"] == "is not YAML: the key config is there twice; correct the file"
    code, out, _ = run("check", "--output", "json")
    findings = {each["stack"]: each for each in json.loads(out)["findings"]}
    assert list(findings) == ["a", "b", "c", "d", "lab"] and json.loads(out)["stacks"] == list(findings)
    assert (findings["a"]["file"], findings["a"]["line"]) == ("Pulumi.a.yaml", 1)
    assert findings["c"]["message"] == "has no key talos-stacks:cluster"
    assert run("check", "--stack", "a")[0] == 2


def test_a_key_of_the_file_that_the_engine_does_not_know_is_said(checkout: Path, run: Run) -> None:
    edit(checkout, "config:\n", "enviroment: [shared]\nconfig:\n")
    code, out, _ = run("check")
    assert code == 2
    line = (checkout / "Pulumi.lab.yaml").read_text().splitlines().index("enviroment: [shared]") + 1
    assert out.splitlines()[1:] == [
        f"  Pulumi.lab.yaml:{line}: enviroment: is not a key of a stack file; write environment or take it out"
    ]


def test_what_is_wrong_with_the_file_and_with_patches_is_said_at_once(checkout: Path, run: Run) -> None:
    edit(checkout, "config:\n", "config:\n  talos-stacks:clutser: x\n")
    (checkout / "patches/worker/70-taint.yaml").write_text(TAINT)
    (checkout / "patches/node/lab-worker-01").mkdir(parents=True)
    (checkout / "patches/node/lab-worker-01/70-x.yaml.j2").write_text("{{ nothing }}\n")
    said = run("check")[1].splitlines()[1:]
    assert ["nothing is not defined" in line or "(lab-worker-02)" in line for line in said] == [True, True]


def test_what_talos_warns_of_is_said_and_is_no_finding(checkout: Path, run: Run) -> None:
    text = "machine: {network: {interfaces: [{interface: eth1, cidr: 10.9.0.1/24}]}}\n"
    (checkout / "patches/worker/70-nic.yaml").write_text(text)
    code, out, err = run("check")
    assert (code, out) == (0, "lab: nothing is wrong\n")
    assert err.startswith(
        "warning: Pulumi.lab.yaml: patches/worker/70-nic.yaml:1 (lab-worker-01, lab-worker-02): machine.network eth1:"
        " cidr is deprecated: use addresses;"
    )


def test_a_file_whose_name_no_stack_can_have_is_said(checkout: Path, run: Run) -> None:
    (checkout / "Pulumi.lab.yaml").rename(checkout / "Pulumi.My Stack.yaml")
    code, out, _ = run("check")
    assert code == 2
    assert "  Pulumi.My Stack.yaml: 'My Stack' is not a stack name: use letters, digits, -, _ and ." in out
