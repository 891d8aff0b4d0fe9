import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.provider import Generate
from cli.stackfile import StackFile
from cli.state import State
from machineconfig.placeholder import placeholder
from machinery import Bundle, client_certificate
from talosapi import Credentials
from tests.cli.conftest import ROOT, Run

SECRET = "hunter2-registry"
PATCH = 'machine:\n  sysctls:\n    vm.own: {{ secret("own") | flow }}\n'


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def state(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> State:
    client = client_certificate(bundle.os)
    found = State(
        bundle, Credentials(bundle.os.crt.encode(), client.crt.encode(), client.key.encode()), {"own": SECRET}
    )

    def read(stack: StackFile) -> State:
        return found

    monkeypatch.setattr("cli.state.read", read)
    return found


def test_a_rendering_holds_patches_in_order_final_configurations_and_origins(run: Run, checkout: Path) -> None:
    before = tree(checkout)
    code, out, err = run("render", "--origins")
    assert (code, out, err) == (0, "lab: 5 nodes in out/lab\n", "")
    folder = checkout / "out" / "lab"
    node = folder / "lab-worker-01"
    names = [path.name for path in sorted((node / "patches").iterdir())]
    assert names[0] == "01-all-10-hostname.yaml" and names[-1] == f"{len(names):02}-platform-bare-metal-15-install.yaml"
    golden = ROOT / "tests/golden/final/lab/lab-worker-01.yaml"
    assert (node / "final.yaml").read_bytes() == golden.read_bytes()
    origins = json.loads((node / "origins.json").read_text())
    assert origins["set"]["HostnameConfig:hostname"] == ["patches/all/10-hostname.yaml.j2:6"]
    assert {name: data for name, data in tree(checkout).items() if not name.startswith("out/")} == before


def test_it_is_the_same_byte_for_byte_and_forgets_what_is_gone(run: Run, checkout: Path) -> None:
    (checkout / "patches/worker/70-own.yaml.j2").write_text(PATCH)
    assert run("render", "--stack", "lab", "--out", "a")[0] == 0
    assert run("render", "--stack", "lab", "--out", "b", "--node", "lab-worker-01")[0] == 0
    assert {path.name for path in (checkout / "b").iterdir()} == {"rendering.json", "lab-worker-01"}
    assert run("render", "--stack", "lab", "--out", "b")[0] == 0
    assert tree(checkout / "a") == tree(checkout / "b")
    assert not list(checkout.glob(".rendering-*"))


def test_secrets_are_marks(run: Run, checkout: Path) -> None:
    (checkout / "patches/worker/70-own.yaml.j2").write_text(PATCH)
    assert run("render")[0] == 0
    files = tree(checkout / "out/lab")
    text = b"\n".join(files.values())
    assert placeholder("own").encode() not in text and b"LS0tLS1" not in text
    assert b'vm.own: "<secret own>"' in files["lab-worker-01/patches/" + _name(files, "70-own")]
    assert b"vm.own: <secret own>" in files["lab-worker-01/final.yaml"]
    assert b"key: <certs.os.key>" in files["lab-controlplane-01/final.yaml"]


def _name(files: dict[str, bytes], part: str) -> str:
    return next(name.rpartition("/")[2] for name in files if part in name)


def test_secrets_are_shown_when_asked_for_in_files_for_one_user(
    run: Run, checkout: Path, state: State, bundle: Bundle
) -> None:
    (checkout / "patches/worker/70-own.yaml.j2").write_text(PATCH)
    code, out, err = run("render", "--stack", "lab", "--show-secrets")
    assert code == 0 and SECRET not in out + err
    folder = checkout / "out/lab"
    assert json.loads((folder / "rendering.json").read_text())["secrets"] == "shown"
    final = (folder / "lab-worker-01/final.yaml").read_text()
    assert SECRET in final and bundle.trustd_token in final
    for path in folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_with_something_else_is_left_alone(run: Run, checkout: Path) -> None:
    code, _, err = run("render", "--stack", "lab", "--out", "patches")
    assert code == 1 and "holds something that is not a rendering" in err
    code, _, err = run("render", "--stack", "lab", "--out", "Pulumi.yaml")
    assert code == 1 and "is a file" in err


def two_stacks(checkout: Path) -> None:
    (checkout / "Pulumi.zzz.yaml").write_text((checkout / "Pulumi.lab.yaml").read_text())


def test_nothing_is_written_when_one_of_the_folders_cannot_be(run: Run, checkout: Path) -> None:
    two_stacks(checkout)
    (checkout / "out/zzz").mkdir(parents=True)
    (checkout / "out/zzz/notes").touch()
    code, out, err = run("render")
    assert (code, out) == (1, "") and "holds something that is not a rendering" in err
    assert tree(checkout / "out") == {"zzz/notes": b""}


def test_renderings_of_before_come_back_where_a_new_one_cannot_take_its_place(
    run: Run, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_stacks(checkout)
    assert run("render")[0] == 0
    before = tree(checkout / "out")
    (checkout / "patches/worker/70-own.yaml").write_text("machine: {sysctls: {vm.a: '1'}}\n")
    rename = Path.rename

    def broken(self: Path, target: Path) -> Path:
        if target.name == "zzz" and self.name == "new":
            raise OSError(28, "No space left on device", str(target))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", broken)
    code, out, err = run("render")
    assert (code, out) == (1, "") and "No space left" in err
    assert tree(checkout / "out") == before


def test_a_rendering_of_one_node_leaves_those_of_others(run: Run, checkout: Path) -> None:
    assert run("render", "--stack", "lab", "--origins")[0] == 0
    before = tree(checkout / "out/lab")
    (checkout / "patches/worker/70-own.yaml").write_text("machine: {sysctls: {vm.a: '1'}}\n")
    assert run("render", "--stack", "lab", "--node", "lab-worker-01", "--origins")[0] == 0
    after = tree(checkout / "out/lab")
    assert {name for name in after if after[name] != before.get(name)} == {
        "lab-worker-01/final.yaml",
        "lab-worker-01/origins.json",
        *(name for name in after if name.startswith("lab-worker-01/patches/") and name not in before),
    }
    assert {name.partition("/")[0] for name in after} == {name.partition("/")[0] for name in before}


def test_a_rendering_of_one_node_is_not_mixed_with_one_of_another_kind(run: Run, checkout: Path, state: State) -> None:
    assert run("render", "--stack", "lab")[0] == 0
    before = tree(checkout / "out")
    code, _, err = run("render", "--stack", "lab", "--node", "lab-worker-01", "--show-secrets")
    assert code == 1 and "shows secrets" in err and tree(checkout / "out") == before


def test_nothing_is_written_when_a_stack_has_faults(run: Run, checkout: Path) -> None:
    (checkout / "patches/worker/70-own.yaml.j2").write_text("machine:\n  sysctls:\n    a: {{ node.ip6 }}\n")
    code, out, err = run("render")
    assert (code, out) == (1, "") and not (checkout / "out").exists()
    assert "patches/worker/70-own.yaml.j2:3" in err and "ip6" in err


def test_a_finding_that_quotes_a_secret_shows_its_mark(run: Run, checkout: Path, state: State) -> None:
    patch = 'machine:\n  network:\n    hostname: {{ secret("own") | flow }}\n'
    (checkout / "patches/worker/70-own.yaml.j2").write_text(patch)
    for arguments in (("render",), ("render", "--show-secrets")):
        code, out, err = run(*arguments)
        assert (code, out) == (1, "") and "patches/worker/70-own.yaml.j2:3" in err
        assert SECRET not in err and placeholder("own") not in err


def test_another_rendering_of_the_same_touches_nothing(run: Run, checkout: Path) -> None:
    assert run("render", "--stack", "lab")[0] == 0
    before = stamps(checkout / "out")
    for arguments in ((), ("--node", "lab-worker-01")):
        assert run("render", "--stack", "lab", *arguments)[0] == 0
        assert stamps(checkout / "out") == before


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """When what is in a folder, and the folder, was written, and which file it is."""
    return {str(path): ((found := path.stat()).st_mtime_ns, found.st_ino) for path in (folder, *folder.rglob("*"))}


def test_only_what_is_different_is_written_and_what_is_gone_goes(run: Run, checkout: Path) -> None:
    own = checkout / "patches/worker/70-own.yaml"
    own.write_text("machine: {sysctls: {vm.a: '1'}}\n")
    assert run("render", "--stack", "lab")[0] == 0
    folder = checkout / "out/lab"
    (folder / "lab-worker-02/notes").touch()
    before, files = stamps(folder), tree(folder)
    own.unlink()
    assert run("render", "--stack", "lab")[0] == 0
    after, kept = stamps(folder), tree(folder)
    gone = {name for name in files if name not in kept}
    assert {name.rpartition("-worker-")[2] for name in gone if "platform" not in name} == {"70-own.yaml", "02/notes"}
    changed = {name for name in kept if after[f"{folder}/{name}"] != before.get(f"{folder}/{name}")}
    assert changed == {name for name in kept if kept[name] != files.get(name)}
    assert "lab-worker-01/final.yaml" in changed and "lab-controlplane-01/final.yaml" not in changed


@pytest.mark.parametrize("arguments", [(), ("--node", "lab-worker-01")])
def test_a_file_that_was_changed_by_hand_is_as_it_was_again(
    arguments: tuple[str, ...], run: Run, checkout: Path
) -> None:
    assert run("render", "--stack", "lab")[0] == 0
    before = tree(checkout / "out")
    final = checkout / "out/lab/lab-worker-01/final.yaml"
    final.write_text(final.read_text() + "# mine\n")
    assert run("render", "--stack", "lab", *arguments)[0] == 0
    assert tree(checkout / "out") == before


def test_a_rendering_with_secrets_gets_its_modes_back(run: Run, checkout: Path, state: State) -> None:
    for _ in range(2):
        assert run("render", "--stack", "lab", "--show-secrets")[0] == 0
        modes = {stat.S_IMODE(path.stat().st_mode) for path in (checkout / "out/lab").rglob("*") if path.is_file()}
        assert modes == {0o600} and stat.S_IMODE((checkout / "out/lab").stat().st_mode) == 0o700
        (checkout / "out/lab").chmod(0o755)
        (checkout / "out/lab/lab-worker-01/final.yaml").chmod(0o644)
    before = umask_mode(checkout)
    assert run("render", "--stack", "lab")[0] == 0
    assert {path.stat().st_mode for path in (checkout / "out/lab").rglob("*") if path.is_file()} == {before}


def umask_mode(folder: Path) -> int:
    """The mode of a new file."""
    (folder / "new").touch()
    return (folder / "new").stat().st_mode


def test_files_are_copied_where_there_are_no_links(run: Run, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    assert run("render", "--stack", "lab")[0] == 0
    before = tree(checkout / "out/lab")
    monkeypatch.setattr("os.link", refused)
    (checkout / "patches/worker/70-own.yaml").write_text("machine: {sysctls: {vm.a: '1'}}\n")
    assert run("render", "--stack", "lab", "--node", "lab-worker-01")[0] == 0
    after = tree(checkout / "out/lab")
    assert {name for name in before if after.get(name) != before[name]} == {
        "lab-worker-01/final.yaml",
        *(name for name in before if name.startswith("lab-worker-01/") and name not in after),
    }


def test_no_plugin_is_asked_unless_it_is_named(run: Run, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(_: object) -> None:
        raise AssertionError("a plugin was looked for")

    monkeypatch.setattr("cli.provider.find", find)
    assert run("render", "--stack", "lab")[0] == 0
    assert json.loads((checkout / "out/lab/rendering.json").read_text())["madeBy"] == "talos-stacks"
    monkeypatch.setattr("cli.provider.find", lambda _: None)
    code, out, err = run("render", "--stack", "lab", "--plugin")
    assert (code, out) == (1, "") and "no Talos provider plugin" in err and "leave --plugin out" in err


def test_with_the_plugin_its_configurations_are_written(
    run: Run, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def plugin() -> Iterator[Generate]:
        yield lambda _: "machine: {type: worker}\n"

    monkeypatch.setattr("cli.render.plugin", plugin)
    assert run("render", "--stack", "lab", "--plugin")[0] == 0
    assert json.loads((checkout / "out/lab/rendering.json").read_text())["madeBy"] == "pulumi-resource-talos"
    assert (checkout / "out/lab/lab-worker-01/final.yaml").read_text() == "machine: {type: worker}\n"
    code, _, err = run("render", "--stack", "lab", "--node", "lab-worker-01")
    assert code == 1 and "comes from the plugin" in err


def test_origins_are_written_where_they_are_asked_for(run: Run, checkout: Path) -> None:
    assert run("render", "--stack", "lab")[0] == 0
    assert not list((checkout / "out").rglob("origins.json"))
    assert run("render", "--stack", "lab", "--origins")[0] == 0
    assert len(list((checkout / "out").rglob("origins.json"))) == 5


def test_json_says_what_was_made(run: Run, checkout: Path) -> None:
    code, out, _ = run("render", "--stack", "lab", "--node", "lab-worker-02", "--output", "json")
    assert code == 0
    assert json.loads(out) == [{"stack": "lab", "folder": str(checkout / "out/lab"), "nodes": ["lab-worker-02"]}]
