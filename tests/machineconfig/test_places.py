"""Each fault of a node is said once, with the file and line of its place, and hides no other."""

from pathlib import Path

import pytest

from tests.machineconfig.stacks import OLD
from tests.machineconfig.test_mutations import faults


def said(folder: Path, text: str, file: str = "worker/70-x.yaml") -> list[str]:
    """The faults of a patch: line, message and rule."""
    lines = faults(folder, {file: text})
    return [line.partition(f"patches/{file}:")[2] or line for line in lines]


def volume(name: str, *rows: str) -> str:
    return "\n".join(["apiVersion: v1alpha1", "kind: UserVolumeConfig", f"name: {name}", "provisioning:", *rows, ""])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("# no\npersist: false\n", "2 (w1): persist must be true"),
        (
            volume("data", "  minSize: 1GB", "  maxSize: 2GB", "  diskSelector:", "    match: a(b"),
            "8 (w1): UserVolumeConfig/data: provisioning.diskSelector.match: ",
        ),
        (volume("data", "  diskSelector: {match: system_disk}", "  minSize: -5GB"), "6 (w1): UserVolumeConfig/data: "),
        (
            "machine:\n  env: {a: b}\n  registries:\n    mirrors:\n      a.b:\n",
            "5 (w1): machine.registries.mirrors.a.b",
        ),
    ],
)
def test_what_talos_refuses_has_the_line_of_its_place(text: str, place: str, tmp_path: Path) -> None:
    (line,) = [line for line in said(tmp_path, text) if "null-deletes" not in line]
    assert line.startswith(place), line


def test_faults_that_share_a_word_or_a_line_are_all_said(tmp_path: Path) -> None:
    name = volume("db_data", "  minSize: 1GB", "  diskSelector: {match: system_disk}")
    lines = said(tmp_path, f'{name}---\nmachine: {{nodeLabels: {{"bad key!": ""}}}}\n')
    assert [line.rpartition("[")[2] for line in lines] == ["volume-name]", "talos-refuses]"]
    text = 'machine: {nodeLabels: {"bad key!": "", a: "b c"}, install: {extraKernelArgs: [a]}}\n'
    assert [line.rpartition("[")[2] for line in said(tmp_path, text)] == [
        "kernel-arguments]",
        "talos-refuses]",
        "talos-refuses]",
    ]


def test_an_interface_that_stands_twice_hides_no_fault_of_another(tmp_path: Path) -> None:
    text = "machine: {network: {interfaces: [{interface: eth5}, {interface: eth5, mtu: 1500}, {mtu: 9000}]}}\n"
    first, second = said(tmp_path, text)
    assert first.endswith("[interface-twice]")
    assert "an interface needs either interface or deviceSelector" in second


@pytest.mark.parametrize(
    "text",
    [
        "machine:\n  nodeLabels: {a: 'b c'}\n  install: {wipe: maybe}\n",
        "machine:\n  nodeLabels: {a: 'b c'}\n  install: {wipes: true}\n",
        "machine:\n  nodeLabels: {a: 'b c'}\n  sysctls: {a: '1', a: '2'}\n",
        "machine:\n  nodeLabels: {a: 'b c'}\n  network: {interfaces: [{interface: eth1, mtu: x}]}\n",
    ],
)
def test_what_cannot_be_read_hides_nothing_else(text: str, tmp_path: Path) -> None:
    first, second = said(tmp_path, text)
    assert first.startswith("3 (w1): ")
    assert second.startswith('2 (w1): machine.nodeLabels: "b c" is not a value')


def test_what_cannot_be_read_beside_a_kind_of_a_newer_release(tmp_path: Path) -> None:
    files = {
        "worker/70-x.yaml": "machine: {install: {wipe: maybe}}\n",
        "worker/71-y.yaml": "apiVersion: v1alpha1\nkind: RegistryAuthConfig\nname: a\n",
    }
    lines = faults(tmp_path, files, versions=OLD)
    assert [line.rpartition("[")[2] for line in lines] == ["unknown-kind]", "wrong-type]"]


def test_what_follows_from_a_value_that_cannot_be_read_is_not_said(tmp_path: Path) -> None:
    text = "machine:\n  network: {interfaces: [{interface: eth1, routes: [{gateway: [a]}]}]}\n"
    (line,) = said(tmp_path, text)
    assert line.endswith("[wrong-type]")


def test_what_a_machine_cannot_read_of_the_whole_has_no_line_of_nobodys_file(tmp_path: Path) -> None:
    files = {"worker/70-x.yaml": "machine:\n  install: {grubUseUKICmdline: true}\n"}
    waiver = {"check": "unknown-key", "reason": "x"}
    assert faults(tmp_path, files, versions=OLD, waivers=[waiver]) == (
        "patches/worker/70-x.yaml:2 (w1): machine.install.grubUseUKICmdline is known since Talos 1.12 only; correct"
        " the patch, or the key of the stack file that it takes this from [cannot-be-merged]",
    )


def test_half_an_endpoint_is_told_with_what_comes_of_it(tmp_path: Path) -> None:
    (line,) = said(tmp_path, "cluster: {controlPlane: {endpoint: foo}}\n", "all/70-x.yaml")
    assert line.startswith("1 (cp1, w1): cluster.controlPlane.endpoint is https://192.168.1.120:6443/foo; the topology")


def test_a_map_that_is_brought_in_is_looked_at_too(tmp_path: Path) -> None:
    text = "machine:\n  env: &l {node-role.kubernetes.io/worker: ''}\n  nodeLabels: {<<: *l, a: b}\n"
    (line,) = said(tmp_path, text)
    assert "may not give itself the label node-role.kubernetes.io/worker" in line
