"""`check` without --stack: what only shows where all stacks are looked at together."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run


def copy(checkout: Path, name: str, **changes: str) -> None:
    text = (ROOT / f"Pulumi.{name}.yaml").read_text()
    for old, new in changes.items():
        text = text.replace(old, new)
    (checkout / "Pulumi.copy.yaml").write_text(text)


def test_two_stacks_that_claim_the_same_machines_are_warned_of(checkout: Path, run: Run) -> None:
    copy(checkout, "lab")
    code, out, err = run("check")
    assert (code, out) == (0, "copy: nothing is wrong\nlab: nothing is wrong\n")
    assert err.splitlines() == [
        "warning: no stack: name: lab is the cluster's name in copy and in lab; give each cluster a name of its own",
        "warning: no stack: nodes.address: 127.0.10.11 and 5 more both in copy and in lab; correct one of them,"
        " unless these are two networks",
    ]
    code, out, _ = run("check", "--output", "json")
    assert [(each["stack"], each["path"]) for each in json.loads(out)["warnings"]] == [
        (None, "name"),
        (None, "nodes.address"),
    ]
    assert run("check", "--stack", "lab")[2] == ""


def test_one_vm_id_on_one_proxmox_is_warned_of_and_on_two_is_not(checkout: Path, run: Run) -> None:
    shutil.copytree(ROOT / "patches/node", checkout / "patches/node")
    shutil.copy(ROOT / "Pulumi.homelab.yaml", checkout)
    copy(checkout, "homelab", **{"name: homelab": "name: other", "192.168.1.": "192.168.7."})
    _, _, err = run("check")
    (line,) = err.splitlines()
    assert "no stack: nodes.vmId: 121 on https://pve.example.internal" in line
    assert "and 2 more both in copy and in homelab; give each machine one of its own" in line
    elsewhere = {"192.168.1.": "192.168.7.", "pve.example.internal": "pve2.example.internal"}
    copy(checkout, "homelab", **{"name: homelab": "name: other"}, **elsewhere)
    assert run("check")[2] == ""


@pytest.mark.parametrize(
    "text",
    [
        "{% if node.data.hugepages is defined %}\nmachine: {sysctls: {vm.nr_hugepages: '1'}}\n{% endif %}\n",
        "{% if node.name == 'worker-9' %}\nmachine: {sysctls: {vm.nr_hugepages: '1'}}\n{% endif %}\n",
    ],
)
def test_a_patch_that_is_empty_for_every_node_of_every_stack_is_warned_of(text: str, checkout: Path, run: Run) -> None:
    (checkout / "patches/worker/70-hugepages.yaml.j2").write_text(text)
    code, _, err = run("check")
    assert code == 0
    assert err.splitlines() == [
        "warning: no stack: patches/worker/70-hugepages.yaml.j2: is empty for every node of every stack;"
        " correct what it asks for, give the data in a stack file, or take it out"
    ]
    assert run("check", "--stack", "lab")[2] == ""


def test_a_patch_of_comments_alone_is_warned_of(checkout: Path, run: Run) -> None:
    (checkout / "patches/all/70-old.yaml").write_text("# machine: {}\n")
    assert "patches/all/70-old.yaml: is empty for every node" in run("check")[2]


def test_what_lies_about_in_the_patches_is_said_once_for_all_stacks(checkout: Path, run: Run) -> None:
    copy(checkout, "lab", **{"name: lab\n": "name: copy\n", "127.0.10.": "127.0.11."})
    (checkout / "patches/platform/vmware").mkdir()
    code, out, _ = run("check")
    assert code == 2
    assert out.splitlines()[:3] == ["copy: nothing is wrong", "lab: nothing is wrong", "no stack: 1 finding"]
    assert out.splitlines()[3].startswith("  patches/platform/vmware: no node reads a folder called vmware;")
    (checkout / "Pulumi.copy.yaml").unlink()
    assert run("check")[1].startswith("lab: 1 finding\n  patches/platform/vmware")
