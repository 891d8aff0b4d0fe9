"""Every value has a chain of steps, and the files it names are enough to make the value again."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path as FolderPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machineconfig import Patch
from machineconfig.generation import arguments
from machineconfig.origins import Origins, origins
from machineconfig.paths import Path, find, leaves, near, title_of, value_at, written
from machineconfig.placeholder import placeholder_bundle
from machineconfig.trace import Steps
from machinery import ConfigError, GenerateArgs, generate_configuration
from machinery.yaml import load
from tests.machineconfig import golden
from tests.machineconfig.stacks import OLD, PATCHES, render_cluster, rendered, stack, write

ARGS = GenerateArgs("demo", "https://192.0.2.1:6443", "worker", placeholder_bundle())
OLD_ARGS = GenerateArgs("demo", "https://192.0.2.1:6443", "controlplane", placeholder_bundle(), "v1.11", "1.33.1")


def nodes() -> Iterator[Any]:
    for name, topology in golden.stacks().items():
        patches = render_cluster(topology, root=PATCHES)
        for node in topology.nodes:
            args = arguments(topology, node, (), placeholder_bundle())
            yield pytest.param(args, patches[node.name], id=f"{name}-{node.name}")


def made(args: GenerateArgs, patches: Sequence[Patch]) -> dict[str, Any]:
    """The configuration as the provider makes it, by another way than origins do."""
    texts = tuple(patch.text for patch in patches)
    text = generate_configuration(GenerateArgs(**{**vars(args), "patches": texts}))
    return {title_of(values): values for values in load(text) if values}


def files_behind(found: Origins, title: str, path: Path) -> frozenset[str]:
    """The files in the chain of a value; in a list, of everything in it, since entries stand where others let them."""
    outermost = next((path[:at] for at, part in enumerate(path) if isinstance(part, int)), path)
    chains = [found.steps(title, (*outermost, *p)) for p, _ in leaves(value_at(found.documents[title], outermost))]
    gone = [steps for at, place, steps in found.removed if at == title and place[: len(outermost)] == outermost]
    return frozenset(step.origin.file for steps in (*chains, *gone) for step in steps)


def replays(args: GenerateArgs, patches: Sequence[Patch]) -> Origins:
    """Make every value again from the files of its chain alone."""
    found = origins(args, patches)
    assert found.documents == made(args, patches)

    @lru_cache
    def again(files: frozenset[str]) -> dict[str, Any]:
        return made(args, [patch for patch in patches if patch.source in files])

    for title, path, value, _ in found.all():
        assert value_at(again(files_behind(found, title, path))[title], path) == value, written(title, path)
    return found


@pytest.mark.parametrize(("args", "patches"), list(nodes()))
def test_the_files_of_a_chain_make_its_value(args: GenerateArgs, patches: tuple[Patch, ...]) -> None:
    replays(args, patches)


@pytest.mark.parametrize(("args", "patches"), list(nodes()))
def test_the_files_of_an_entry_of_a_list_are_enough_for_the_entry(
    args: GenerateArgs, patches: tuple[Patch, ...]
) -> None:
    found = origins(args, patches)
    for title, path, value, steps in found.all():
        if isinstance(path[-1], int) and not any(isinstance(part, int) for part in path[:-1]):
            files = {step.origin.file for step in steps}
            alone = made(args, [patch for patch in patches if patch.source in files])
            assert value in value_at(alone[title], path[:-1]), written(title, path)


@pytest.mark.parametrize(("args", "patches"), list(nodes()))
def test_the_line_of_a_step_speaks_of_the_value(args: GenerateArgs, patches: tuple[Patch, ...]) -> None:
    rows: dict[tuple[str, int | None], str] = defaultdict(str)  # a line of a template may come to several
    for patch in patches:
        for number, text in enumerate(patch.text.splitlines(), 1):
            rows[patch.source, patch.line(number)] += text
    for title, path, _, steps in origins(args, patches).all():
        for step in steps:
            if (step.origin.file, step.origin.line) in rows and not step.deleted:
                row = rows[step.origin.file, step.origin.line]
                assert str(path[-1]) in row or str(step.value) in row, (written(title, path), step.origin, row)


@pytest.mark.parametrize(("args", "patches"), list(nodes()))
def test_without_the_last_file_a_value_is_the_one_it_overrode(args: GenerateArgs, patches: tuple[Patch, ...]) -> None:
    found = origins(args, patches)
    for source in {patch.source for patch in patches}:
        without = origins(args, [patch for patch in patches if patch.source != source])
        for title, path, _, steps in found.all():
            if steps[-1].origin.file != source or any(isinstance(part, int) for part in path):
                continue
            earlier = [step for step in steps if step.origin.file != source]
            try:
                now: Steps = without.steps(title, path)
            except LookupError:
                now = ()
            assert [step.value for step in now] == [step.value for step in earlier], written(title, path)


@pytest.mark.parametrize(("args", "patches"), list(nodes()))
def test_every_place_is_found_again_by_its_text(args: GenerateArgs, patches: tuple[Patch, ...]) -> None:
    found = origins(args, patches)
    for title, path, _, _ in found.all():
        assert find(found.documents, written(title, path)) == (title, path)


POOL = (
    "machine:\n  sysctls:\n    vm.a: '1'\n    vm.b: '2'\n",
    "machine:\n  sysctls:\n    vm.a: '3'\n",
    "machine:\n  sysctls:\n    vm.a:\n      $patch: delete\n",
    "machine:\n  sysctls:\n    $patch: delete\n",
    "machine:\n  certSANs: [a.example, b.example]\n",
    "machine:\n  certSANs:\n    - b.example\n    - c.example\n",
    "cluster:\n  network:\n    podSubnets: [10.1.0.0/16, 10.2.0.0/16]\n",
    "cluster:\n  network:\n    podSubnets:\n      - 10.3.0.0/16\n",
    "machine:\n  network:\n    interfaces:\n      - interface: eth0\n        addresses: [192.0.2.5/24]\n",
    "machine:\n  network:\n    interfaces:\n      - interface: eth1\n        mtu: 9000\n"
    "      - interface: eth0\n        dhcp: false\n",
    "machine:\n  network:\n    interfaces:\n      - interface: eth0\n        $patch: delete\n",
    "machine:\n  install:\n    disk: ''\n    wipe: true\n",
    "machine:\n  install:\n    disk: /dev/vda\n",
    "machine:\n  kubelet:\n    extraArgs:\n      v: '4'\n    extraConfig:\n      maxPods: 200\n"
    "      list: [1, {a: b}]\n",
    "machine:\n  kubelet:\n    extraConfig:\n      maxPods: 100\n      list: [2]\n",
    "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: demo\nauto: 'off'\n",
    "apiVersion: v1alpha1\nkind: HostnameConfig\n$patch: delete\n",
    "apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: x\nprovisioning:\n  diskSelector:\n    match: system_disk\n"
    "  minSize: 10GB\n",
    "apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: x\nfilesystem:\n  type: xfs\n",
    "machine: {nodeLabels: {zone: a}}\n---\napiVersion: v1alpha1\nkind: TimeSyncConfig\nenabled: true\n",
    "cluster: {apiServer: {admissionControl: [{name: PodSecurity, $patch: delete}]}}\n",
)
JSON = (
    '[{"op": "add", "path": "/machine/certSANs", "value": ["z.example"]}]\n',
    '[{"op": "replace", "path": "/machine/install/disk", "value": "/dev/vdb"}]\n',
    "- op: remove\n  path: /machine/install/disk\n- op: add\n  path: /machine/nodeLabels\n  value: {zone: b}\n",
)


def taken(args: GenerateArgs, texts: list[str]) -> list[Patch]:
    """The texts that Talos takes in this order, as patches."""
    patches: list[Patch] = []
    for number, text in enumerate(texts):
        patch = Patch(f"{number:02}.yaml", text)
        try:
            made(args, [*patches, patch])
        except ConfigError:
            continue
        patches.append(patch)
    return patches


@given(st.lists(st.sampled_from(POOL), max_size=8))
@settings(max_examples=150, deadline=None)
def test_any_patches_leave_a_trace_that_is_whole(texts: list[str]) -> None:
    patches = taken(ARGS, texts)
    found = origins(ARGS, patches)
    assert found.documents == made(ARGS, patches)
    lines = {patch.source: patch.text.splitlines() for patch in patches}
    for title, path, value, steps in found.all():
        for step in steps:
            if step.origin.file and step.origin.line is not None and not step.deleted:
                line = lines[step.origin.file][step.origin.line - 1]
                keys = [part for part in path if isinstance(part, str)]
                assert str(step.value) in line or keys[-1] in line or step.value in (None, ""), (
                    title,
                    path,
                    value,
                    line,
                )
    for _, _, steps in found.removed:
        assert steps[-1].deleted and len(steps) > 1 and steps[-1].origin.file


@given(st.lists(st.sampled_from((*POOL, *JSON)), max_size=6))
@settings(max_examples=100, deadline=None)
def test_any_patches_of_one_document_are_traced_too(texts: list[str]) -> None:
    patches = taken(OLD_ARGS, texts)
    assert origins(OLD_ARGS, patches).documents == made(OLD_ARGS, patches)


def chain(found: Origins, text: str) -> list[tuple[str, Any]]:
    title, path = find(found.documents, text) or pytest.fail(f"nothing at {text}")
    return [(str(step.origin), step.value) for step in found.steps(title, path)]


def test_a_chain_names_files_lines_and_values_in_order() -> None:
    found = origins(
        ARGS, [Patch("all/a.yaml", POOL[12]), Patch("node/b.yaml", POOL[11]), Patch("node/c.yaml", POOL[12])]
    )
    assert chain(found, "machine.install.disk") == [
        ("Talos defaults for worker, contract v1.13", "/dev/sda"),
        ("patches/all/a.yaml:3", "/dev/vda"),
        ("patches/node/c.yaml:3", "/dev/vda"),
    ]
    assert chain(found, "machine.install.wipe")[-1] == ("patches/node/b.yaml:4", True)


def test_entries_of_lists_have_origins_of_their_own() -> None:
    found = origins(ARGS, [Patch(f"{n}.yaml", POOL[n]) for n in (4, 5, 8, 9)])
    assert [chain(found, f"machine.certSANs[{index}]")[-1][0] for index in range(4)] == [
        "patches/4.yaml:2",
        "patches/4.yaml:2",
        "patches/5.yaml:3",
        "patches/5.yaml:4",
    ]
    assert chain(found, "machine.network.interfaces[0].addresses[0]")[-1][0] == "patches/8.yaml:5"
    assert chain(found, "machine.network.interfaces[0].dhcp")[-1][0] == "patches/9.yaml:7"
    assert chain(found, "machine.network.interfaces[1].mtu")[-1][0] == "patches/9.yaml:5"


def test_what_was_deleted_is_told_and_what_came_back_remembers_it() -> None:
    texts = [POOL[0], POOL[2]]
    found = origins(ARGS, [Patch(f"{n}.yaml", text) for n, text in enumerate(texts)])
    ((title, path, steps),) = found.removed
    assert written(title, path) == 'machine.sysctls["vm.a"]'
    assert [(str(step.origin), step.deleted) for step in steps] == [
        ("patches/0.yaml:3", False),
        ("patches/1.yaml:4", True),
    ]
    back = origins(ARGS, [Patch(f"{n}.yaml", text) for n, text in enumerate([*texts, POOL[1]])])
    assert back.removed == ()
    assert [origin for origin, _ in chain(back, "machine.sysctls.vm.a")] == [
        "patches/0.yaml:3",
        "patches/1.yaml:4",
        "patches/2.yaml:3",
    ]


def test_a_document_that_was_deleted_is_told_whole() -> None:
    found = origins(ARGS, [Patch("0.yaml", POOL[16])])
    assert {written(title, path) for title, path, _ in found.removed} == {
        "HostnameConfig:apiVersion",
        "HostnameConfig:kind",
        "HostnameConfig:auto",
    }
    assert str(found.origin("HostnameConfig", ("auto",))) == "patches/0.yaml:1"


def test_a_delete_of_what_talos_generates_is_told_once() -> None:
    topology = stack(allowSchedulingOnControlPlanes=True, versions=OLD)
    node = topology.node("cp1")
    found = origins(arguments(topology, node, (), placeholder_bundle()), rendered(topology, "cp1"))
    label = "node.kubernetes.io/exclude-from-external-load-balancers"
    removed = [(written(title, path), str(steps[-1].origin)) for title, path, steps in found.removed]
    assert removed == [(f'machine.nodeLabels["{label}"]', "patches/controlplane/65-scheduling.yaml.j2:6")]


def test_a_delete_of_what_is_not_there_leaves_no_trace(tmp_path: FolderPath) -> None:
    text = "machine:\n  sysctls:\n    vm.a:\n      $patch: delete\n  network:\n    nameservers:\n      $patch: delete\n"
    topology = stack()
    patches = rendered(topology, "w1", write(tmp_path, {"all/70-own.yaml": text}))
    found = origins(arguments(topology, topology.node("w1"), (), placeholder_bundle()), patches)
    assert found.removed == ()
    assert all(not step.origin.file for _, _, _, steps in found.all() for step in steps)


def test_places_that_are_near_are_named() -> None:
    found = origins(ARGS, [Patch("0.yaml", POOL[17])])
    assert near(found.documents, "machine.instal.disk")[0] == "machine.install.disk"
    assert "UserVolumeConfig/x:provisioning.minSize" in near(found.documents, "UserVolumeConfig/x.minSize")
    assert find(found.documents, "machine.install.disk.x") is None
    assert find(found.documents, "UserVolumeConfig/x:provisioning.minSize") is not None
