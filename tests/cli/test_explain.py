import json
from pathlib import Path

from tests.cli.conftest import Run

KUBEPRISM = "patches/all/31-kubeprism.yaml"


def test_a_value_with_what_it_overrode(run: Run, checkout: Path) -> None:
    (checkout / "patches/worker/70-own.yaml").write_text("machine:\n  features:\n    kubePrism:\n      port: 7446\n")
    code, out, _ = run("explain", "lab-worker-01", "machine.features.kubePrism.port")
    assert code == 0
    assert out.splitlines() == [
        "machine.features.kubePrism.port = 7446",
        "  set by patches/worker/70-own.yaml:4",
        f"  overrides 7445 from {KUBEPRISM}:6",
        "  overrides 7445 from Talos defaults for worker, contract v1.13",
    ]


def test_a_list_with_the_origin_of_each_entry(run: Run, checkout: Path) -> None:
    (checkout / "patches/worker/70-own.yaml").write_text("machine:\n  certSANs: [own.example]\n")
    code, out, _ = run("explain", "lab-worker-01", "machine.certSANs")
    assert code == 0
    assert out.splitlines() == [
        "machine.certSANs[0] = 127.0.10.21",
        "  set by patches/all/60-certificates.yaml.j2:3",
        "machine.certSANs[1] = own.example",
        "  set by patches/worker/70-own.yaml:2",
    ]


def test_a_document_with_a_kind(run: Run, checkout: Path) -> None:
    code, out, _ = run("explain", "lab-worker-01", "HostnameConfig:hostname", "--output", "json")
    assert code == 0
    (entry,) = json.loads(out)["entries"]
    assert entry["value"] == "lab-worker-01"
    assert entry["steps"][-1]["file"] == "patches/all/10-hostname.yaml.j2" and entry["steps"][-1]["line"] == 6


def test_what_was_deleted(run: Run, checkout: Path) -> None:
    text = "machine:\n  features:\n    hostDNS:\n      $patch: delete\n"
    (checkout / "patches/worker/70-own.yaml").write_text(text)
    code, out, _ = run("explain", "lab-worker-01", "machine.features.hostDNS.enabled")
    assert code == 0
    assert out.splitlines() == [
        "machine.features.hostDNS.enabled: deleted",
        "  deleted by patches/worker/70-own.yaml:4",
        "  it was true from Talos defaults for worker, contract v1.13",
    ]


def test_what_was_deleted_is_found_with_and_without_brackets(run: Run, checkout: Path) -> None:
    (checkout / "patches/worker/70-own.yaml").write_text("machine:\n  sysctls:\n    vm.a: '1'\n    vm.b: '1'\n")
    (checkout / "patches/worker/71-own.yaml").write_text("machine:\n  sysctls:\n    vm.a:\n      $patch: delete\n")
    for place in ("machine.sysctls.vm.a", 'machine.sysctls["vm.a"]', "machine.sysctls[vm.a]"):
        code, out, _ = run("explain", "lab-worker-01", place)
        assert code == 0
        assert out.splitlines() == [
            'machine.sysctls["vm.a"]: deleted',
            "  deleted by patches/worker/71-own.yaml:4",
            '  it was "1" from patches/worker/70-own.yaml:3',
        ]
    _, out, _ = run("explain", "lab-worker-01", "machine.sysctls")
    assert [line for line in out.splitlines() if not line.startswith(" ")] == [
        'machine.sysctls["vm.b"] = "1"',
        'machine.sysctls["vm.a"]: deleted',
    ]


def test_secrets_are_marks(run: Run, checkout: Path) -> None:
    patch = 'machine:\n  sysctls:\n    vm.own: {{ secret("own") | flow }}\n'
    (checkout / "patches/worker/70-own.yaml.j2").write_text(patch)
    _, out, _ = run("explain", "lab-worker-01", "machine.token")
    assert out.startswith("machine.token = <trustdinfo.token>\n")
    _, out, _ = run("explain", "lab-worker-01", "machine.sysctls.vm.own", "--output", "json")
    assert [step["value"] for step in json.loads(out)["entries"][0]["steps"]] == ["<secret own>"]


def test_an_unknown_path_names_near_ones(run: Run, checkout: Path) -> None:
    code, out, err = run("explain", "lab-worker-01", "machine.instal.disk")
    assert (code, out) == (1, "")
    assert "near it: machine.install.disk" in err and err.count("\n") == 1


def test_a_dot_at_the_end_means_what_is_below(run: Run, checkout: Path) -> None:
    assert run("explain", "lab-worker-01", "machine.install.") == run("explain", "lab-worker-01", "machine.install")


def test_an_unknown_node_names_near_ones(run: Run, checkout: Path) -> None:
    code, _, err = run("explain", "lab-worker-1", "machine.type")
    assert code == 1 and "lab-worker-01" in err


def test_faults_of_the_stack_are_all_told(run: Run, checkout: Path) -> None:
    file = checkout / "Pulumi.lab.yaml"
    file.write_text(file.read_text().replace("kubernetes: v1.36.2", "kubernetes: v1.99.0\n      colour: blue"))
    code, _, err = run("explain", "lab-worker-01", "machine.type")
    assert code == 1
    assert err.startswith("error: Pulumi.lab.yaml: 2 faults\n") and "v1.99.0" in err and "colour" in err


def test_passwords_that_stand_in_a_patch_are_hidden(run: Run, checkout: Path) -> None:
    (checkout / "patches/worker/70-own.yaml").write_text(
        "machine:\n"
        "  registries: {config: {r.example: {auth: {username: jane, password: hunter2}}}}\n"
        "  kubelet: {extraArgs: {x: 'token=hunter2'}}\n"
        "  sysctls: {vm.a: '1'}\n"
    )
    (checkout / "patches/worker/71-own.yaml").write_text(
        "machine:\n  registries: {config: {r.example: {auth: {password: hunter3}}}}\n"
    )
    for output in ("text", "json"):
        code, out, _ = run("explain", "lab-worker-01", "machine", "--output", output)
        assert code == 0 and "hunter" not in out and "jane" not in out
        assert "vm.a" in out and "(hidden)" in out
    _, out, _ = run("explain", "lab-worker-01", "machine.registries.config[r.example].auth.password")
    assert out.splitlines() == [
        'machine.registries.config["r.example"].auth.password = (hidden)',
        "  set by patches/worker/71-own.yaml:2",
        "  overrides (hidden) from patches/worker/70-own.yaml:2",
    ]


def test_what_the_stack_file_gives_has_its_line(run: Run, checkout: Path) -> None:
    lines = (checkout / "Pulumi.lab.yaml").read_text().splitlines()

    def line(text: str) -> int:
        return next(number for number, line in enumerate(lines, 1) if text in line)

    for path, expected in {
        "cluster.clusterName": line("name: lab"),
        "cluster.controlPlane.endpoint": line("vip:"),
        "machine.type": line("lab-controlplane-02"),
        "machine.kubelet.image": line("kubernetes:"),
        "cluster.apiServer.image": line("kubernetes:"),
    }.items():
        code, out, _ = run("explain", "lab-controlplane-02", path)
        assert code == 0 and out.splitlines()[1] == f"  set by Pulumi.lab.yaml:{expected}", path
    _, out, _ = run("explain", "lab-controlplane-02", "cluster.clusterName", "--output", "json")
    (step,) = json.loads(out)["entries"][0]["steps"]
    assert (step["file"], step["line"]) == ("Pulumi.lab.yaml", line("name: lab"))


def test_rights_of_files_are_written_as_everywhere(run: Run, checkout: Path) -> None:
    (checkout / "patches/worker/70-own.yaml").write_text(
        "machine: {files: [{path: /var/x, op: create, permissions: 0o600, content: a}]}\n"
    )
    _, out, _ = run("explain", "lab-worker-01", "machine.files[0].permissions")
    assert out.startswith("machine.files[0].permissions = 0o600\n")
