import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cli import running
from cli.errors import CliError
from cli.running import Answer
from machinery import Bundle, KeyPair, generate_secrets, talosconfig
from talosapi import Credentials
from tests.cli.conftest import Run
from tests.cli.fleet import Fleet

PATCH = "machine:\n  sysctls:\n    vm.max_map_count: '262144'\n"
SECRET = 'machine:\n  sysctls:\n    vm.own: {{ secret("own") | flow }}\n'
DELETE = "machine:\n  features:\n    hostDNS:\n      $patch: delete\n"


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


class TestFolders:
    def test_the_same_is_no_difference(self, run: Run, checkout: Path) -> None:
        for name in ("a", "b"):
            assert run("render", "--stack", "lab", "--out", name)[0] == 0
        assert run("diff", "--from", "a", "--to", "b") == (0, "no difference (5 nodes)\n", "")

    def test_each_change_has_its_file_and_what_is_lost_comes_first(self, run: Run, checkout: Path) -> None:
        own = checkout / "patches/worker/70-own.yaml"
        own.write_text(PATCH)
        assert run("render", "--stack", "lab", "--out", "a", "--origins")[0] == 0
        own.write_text(DELETE)
        (checkout / "patches/node/lab-worker-01").mkdir(parents=True)
        (checkout / "patches/node/lab-worker-01/70-disk.yaml").write_text("machine:\n  install:\n    wipe: true\n")
        assert run("render", "--stack", "lab", "--out", "b", "--origins")[0] == 0
        code, out, err = run("diff", "--from", "a", "--to", "b", "--node", "lab-worker-01")
        assert (code, err) == (2, "")
        assert out.splitlines() == [
            "lab-worker-01: 4 differences",
            "  - machine.features.hostDNS.enabled: true  patches/worker/70-own.yaml:4 (deletes it)",
            "  - machine.features.hostDNS.forwardKubeDNSToHost: true  patches/worker/70-own.yaml:4 (deletes it)",
            '  - machine.sysctls["vm.max_map_count"]: "262144"  was set by patches/worker/70-own.yaml:3',
            "  ~ machine.install.wipe: false -> true  patches/node/lab-worker-01/70-disk.yaml:3",
            "  ! machine.install.wipe has changed: the machine is installed and stays where it is; this needs a reset",
            "1 of 1 nodes differ",
        ]

    def test_without_origins_on_both_sides_no_file_is_named(self, run: Run, checkout: Path) -> None:
        own = checkout / "patches/worker/70-own.yaml"
        own.write_text(PATCH)
        assert run("render", "--stack", "lab", "--out", "a")[0] == 0
        own.unlink()
        assert run("render", "--stack", "lab", "--out", "b", "--origins")[0] == 0
        for old, new, sign, values in (("a", "b", "-", '"262144"'), ("b", "a", "+", '"262144"')):
            code, out, _ = run("diff", "--from", old, "--to", new, "--node", "lab-worker-01")
            assert code == 2 and f'  {sign} machine.sysctls["vm.max_map_count"]: {values}\n' in out
            assert "patches/" not in out and "no file sets it" not in out

    def test_nodes_on_one_side_alone(self, run: Run, checkout: Path) -> None:
        assert run("render", "--stack", "lab", "--out", "a")[0] == 0
        assert run("render", "--stack", "lab", "--out", "b", "--node", "lab-worker-01")[0] == 0
        code, out, _ = run("diff", "--from", "b", "--to", "a", "--output", "json")
        assert code == 2
        assert [each["node"] for each in json.loads(out)["nodes"] if each["only"] == "new"] == [
            "lab-controlplane-01",
            "lab-controlplane-02",
            "lab-controlplane-03",
            "lab-worker-02",
        ]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--from", "a"), "belong together"),
            (("--from", "a", "--to", "b", "--from-rev", "main"), "cannot be combined"),
            (("--from", "patches", "--to", "patches"), "holds no rendering"),
            (("--to-rev", "main"), "--to-rev needs --from-rev"),
        ],
    )
    def test_what_cannot_be_compared(self, arguments: tuple[str, ...], message: str, run: Run, checkout: Path) -> None:
        code, out, err = run("diff", *arguments)
        assert (code, out) == (1, "") and message in err and err.count("\n") == 1

    def test_a_rendering_that_was_broken(self, run: Run, checkout: Path) -> None:
        assert run("render", "--stack", "lab", "--out", "a", "--origins")[0] == 0
        (checkout / "a/lab-worker-01/origins.json").write_text("{")
        code, _, err = run("diff", "--from", "a", "--to", "a")
        assert code == 1 and "make it again" in err


class TestRevisions:
    @pytest.fixture
    def repository(self, checkout: Path) -> Path:
        git(checkout, "init", "-q", "-b", "main")
        git(checkout, "add", ".")
        git(checkout, "commit", "-q", "-m", "one")
        return checkout

    def test_a_revision_against_the_working_tree(self, run: Run, repository: Path) -> None:
        assert run("diff", "--from-rev", "main") == (0, "no difference (5 nodes)\n", "")
        (repository / "patches/controlplane/70-own.yaml").write_text(PATCH)
        code, out, err = run("diff", "--from-rev", "HEAD", "--node", "lab-controlplane-02")
        assert (code, err) == (2, "")
        assert out.splitlines() == [
            "lab-controlplane-02: 1 difference",
            '  + machine.sysctls["vm.max_map_count"]: "262144"  patches/controlplane/70-own.yaml:3',
            "1 of 1 nodes differ",
        ]

    def test_two_revisions_and_the_work_tree_stays(self, run: Run, repository: Path) -> None:
        own = repository / "patches/worker/70-own.yaml"
        own.write_text(PATCH)
        git(repository, "add", ".")
        git(repository, "commit", "-q", "-m", "two")
        own.write_text("machine: [\n")
        code, out, _ = run("diff", "--stack", "lab", "--from-rev", "HEAD~1", "--to-rev", "HEAD", "--output", "json")
        found = {each["node"]: each["changes"] for each in json.loads(out)["nodes"]}
        assert code == 2 and found["lab-controlplane-01"] == []
        assert found["lab-worker-02"] == [
            {
                "path": 'machine.sysctls["vm.max_map_count"]',
                "kind": "added",
                "secret": False,
                "new": "262144",
                "cause": "patches/worker/70-own.yaml:3",
            }
        ]
        assert own.read_text() == "machine: [\n"

    def test_a_stack_that_is_new(self, run: Run, repository: Path) -> None:
        text = (repository / "Pulumi.lab.yaml").read_text()
        (repository / "Pulumi.other.yaml").write_text(text)
        code, out, _ = run("diff", "--from-rev", "main", "--stack", "other")
        assert code == 2 and "lab-worker-01: + the whole node" in out

    def test_of_several_stacks_each_node_is_named_with_its_own(self, run: Run, repository: Path) -> None:
        (repository / "Pulumi.other.yaml").write_text((repository / "Pulumi.lab.yaml").read_text())
        git(repository, "add", ".")
        git(repository, "commit", "-q", "-m", "two")
        (repository / "patches/worker/70-own.yaml").write_text(PATCH)
        code, out, _ = run("diff", "--from-rev", "HEAD")
        assert code == 2
        assert [line for line in out.splitlines() if line[0] != " "] == [
            "lab/lab-worker-01: 1 difference",
            "lab/lab-worker-02: 1 difference",
            "other/lab-worker-01: 1 difference",
            "other/lab-worker-02: 1 difference",
            "4 of 10 nodes differ",
        ]

    def test_links_are_followed_in_a_revision_as_in_the_working_tree(self, run: Run, repository: Path) -> None:
        (repository / "shared").mkdir()
        (repository / "shared/own.yaml").write_text(PATCH)
        (repository / "patches/worker/70-own.yaml").symlink_to("../../shared/own.yaml")
        (repository / "elsewhere").symlink_to("/etc/hostname")
        git(repository, "add", ".")
        git(repository, "commit", "-q", "-m", "links")
        assert run("diff", "--from-rev", "HEAD") == (0, "no difference (5 nodes)\n", "")
        (repository / "patches/worker/71-own.yaml").symlink_to("/etc/hostname")
        git(repository, "add", ".")
        git(repository, "commit", "-q", "-m", "a link out")
        code, out, err = run("diff", "--from-rev", "HEAD")
        assert (code, out) == (1, "") and "HEAD: patches/worker/71-own.yaml is a link out of the repository" in err

    @pytest.mark.parametrize("revision", ["nothing", "--output=/tmp/x", "main:Pulumi.yaml"])
    def test_what_is_no_revision(self, revision: str, run: Run, repository: Path) -> None:
        code, out, err = run("diff", f"--from-rev={revision}")
        assert (code, out) == (1, "") and "is not a revision" in err

    def test_faults_of_a_revision_name_it(self, run: Run, repository: Path) -> None:
        (repository / "patches/all/70-own.yaml.j2").write_text("a: {{ node.ip6 }}\n")
        code, _, err = run("diff", "--from-rev", "main")
        assert code == 1 and "error: working tree: Pulumi.lab.yaml: " in err


class TestMachines:
    """Against machines that answer from memory; tests/stack does the same in the lab."""

    @pytest.fixture
    def machines(self, checkout: Path, fleet: Fleet) -> dict[str, str]:
        """What each machine runs: what the checkout says now, with the secrets."""
        (checkout / "patches/worker/71-secret.yaml.j2").write_text(SECRET)
        fleet.secrets["own"] = "old-hunter2"
        fleet.apply()
        return fleet.texts

    def test_what_was_just_applied_is_no_difference(self, run: Run, machines: dict[str, str]) -> None:
        assert run("diff") == (0, "no difference (5 nodes)\n", "")

    def test_an_edit_is_shown_with_its_file(self, run: Run, checkout: Path, machines: dict[str, str]) -> None:
        (checkout / "patches/worker/70-own.yaml").write_text(PATCH)
        code, out, err = run("diff", "--stack", "lab")
        line = '  + machine.sysctls["vm.max_map_count"]: "262144"  patches/worker/70-own.yaml:3'
        assert (code, err) == (2, "")
        assert out.splitlines() == [
            "lab-worker-01: 1 difference",
            line,
            "lab-worker-02: 1 difference",
            line,
            "2 of 5 nodes differ",
        ]

    def test_a_changed_secret_is_told_and_never_shown(self, run: Run, machines: dict[str, str], fleet: Fleet) -> None:
        fleet.secrets["own"] = "new-hunter2"
        for output in ("text", "json"):
            code, out, err = run("diff", "--node", "lab-worker-01", "--output", output)
            assert code == 2 and "hunter2" not in out + err
            assert "vm.own" in out and "secret" in out and "patches/worker/71-secret.yaml.j2:3" in out

    def test_other_machine_secrets_are_told_and_never_shown(
        self, run: Run, machines: dict[str, str], bundle: Bundle
    ) -> None:
        name = "lab-controlplane-01"
        other = generate_secrets("v1.6")
        machines[name] = machines[name].replace(bundle.trustd_token, other.trustd_token)
        code, out, err = run("diff", "--node", name)
        assert code == 2
        assert out.splitlines()[1].startswith("  ~ machine.token (secret): changed  Talos defaults for controlplane")
        assert bundle.trustd_token not in out + err and other.trustd_token not in out + err

    def test_what_nobody_sets_any_more(self, run: Run, machines: dict[str, str]) -> None:
        machines["lab-worker-01"] = machines["lab-worker-01"].replace(
            "    sysctls:\n", "    sysctls:\n        vm.x: '1'\n"
        )
        code, out, _ = run("diff", "--node", "lab-worker-01")
        assert code == 2 and '  - machine.sysctls["vm.x"] (not shown)  no file sets it\n' in out

    def test_what_a_living_machine_does_not_read_again_is_said(
        self, run: Run, machines: dict[str, str], checkout: Path
    ) -> None:
        text = "machine:\n  kubelet:\n    extraConfig:\n      registerWithTaints: [{key: gpu, effect: NoSchedule}]\n"
        (checkout / "patches/worker/70-own.yaml").write_text(text)
        field = "machine.kubelet.extraConfig.registerWithTaints"
        consequence = "a node registers once, so its taints stay; set them through the Kubernetes API"
        code, out, err = run("diff", "--node", "lab-worker-01")
        assert (code, err) == (2, "")
        assert out.splitlines()[-2] == f"  ! {field} has changed: {consequence}"
        code, out, _ = run("diff", "--node", "lab-worker-01", "--output", "json")
        (node,) = json.loads(out)["nodes"]
        assert node["readOnce"] == [{"path": field, "consequence": consequence}]

    def test_a_secret_that_is_not_compared_is_not_said_to_be_read_once(
        self, run: Run, machines: dict[str, str], bundle: Bundle, checkout: Path
    ) -> None:
        name = "lab-controlplane-01"
        for options in ((), ("--talosconfig", "talosconfig")):
            machines[name] = machines[name].replace("clusterName: lab", "clusterName: old")
            machines[name] = machines[name].replace(bundle.cluster_id, "b3RoZXI=")
            _, out, _ = run("diff", "--node", name, "--output", "json", *options)
            said = [each["path"] for each in json.loads(out)["nodes"][0]["readOnce"]]
            assert said == ["cluster.clusterName", *(() if options else ("cluster.id",))]

    def test_a_machine_that_does_not_answer_is_an_error_and_the_others_are_shown(
        self, run: Run, checkout: Path, machines: dict[str, str]
    ) -> None:
        (checkout / "patches/worker/70-own.yaml").write_text(PATCH)
        del machines["lab-worker-01"]
        code, out, err = run("diff")
        assert (code, err) == (1, "error: lab-worker-01: it is off\n")
        assert "lab-worker-02: 1 difference" in out and "1 of 4 nodes differ" in out

    @pytest.mark.parametrize(
        ("applied", "cure"),
        [({}, "make up STACK=lab"), ({"lab-worker-01": "urn:x$y"}, "pulumi up --stack lab --replace 'urn:x$y'")],
        ids=["never had one", "was reset"],
    )
    def test_a_machine_without_a_configuration_is_told_with_the_command_that_gives_it_one(
        self,
        applied: dict[str, str],
        cure: str,
        run: Run,
        machines: dict[str, str],
        fleet: Fleet,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("cli.state.read", lambda stack: replace(fleet.state(stack), applied=applied))
        monkeypatch.setattr(
            "cli.running.ask", lambda nodes, _: [Answer(nodes[0], error="it is in maintenance mode", waits=True)]
        )
        _, _, err = run("diff", "--node", "lab-worker-01")
        assert err.startswith(
            f"error: lab-worker-01: it is in maintenance mode: `{cure}` gives it one (docs/operations"
        )

    def test_where_no_machine_answers_nothing_is_said_to_be_the_same(self, run: Run, machines: dict[str, str]) -> None:
        del machines["lab-worker-01"]
        assert run("diff", "--node", "lab-worker-01") == (1, "", "error: lab-worker-01: it is off\n")

    def test_a_value_of_the_stack_file_has_its_line(self, run: Run, machines: dict[str, str], checkout: Path) -> None:
        name = "lab-worker-01"
        machines[name] = machines[name].replace("clusterName: lab", "clusterName: before")
        code, out, _ = run("diff", "--node", name)
        assert code == 2 and "  ~ cluster.clusterName: before -> lab  Pulumi.lab.yaml:6\n" in out

    def test_with_a_talosconfig_secrets_are_not_compared(
        self, run: Run, machines: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cli.state.read", None)
        code, out, err = run("diff", "--talosconfig", "talosconfig")
        assert (code, out) == (0, "no difference (5 nodes)\n")
        assert err.startswith("warning: secrets are not compared")

    @pytest.mark.parametrize(
        "text", ["", "a: [", "context: x\ncontexts: {}\n", "context: x\ncontexts: {x: {ca: '%'}}\n"]
    )
    def test_what_is_no_talosconfig(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "talosconfig"
        path.write_text(text)
        with pytest.raises(CliError, match="is not a talosconfig"):
            running.talosconfig(path)


def test_a_talosconfig_gives_credentials(tmp_path: Path) -> None:
    path = tmp_path / "talosconfig"
    path.write_text(talosconfig("lab", "the ca", KeyPair("the crt", "the key")))
    assert running.talosconfig(path) == Credentials(b"the ca", b"the crt", b"the key")
    with pytest.raises(CliError, match="No such file"):
        running.talosconfig(tmp_path / "none")
