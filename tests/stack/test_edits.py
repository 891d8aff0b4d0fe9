"""What an edit of the stack file may not do to a cluster that lives, and what it does not do: all said at preview."""

import copy
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.stack.rehearsal import Json, Rehearsal
from tests.stack.resetting import reset

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def living(cluster: Rehearsal) -> Rehearsal:
    return cluster


@pytest.fixture
def edit(living: Rehearsal) -> Iterator[Callable[[Callable[[Json], Any]], None]]:
    """Edits the stack file; it is as before afterwards."""
    before = copy.deepcopy(living.topology)

    def change(by: Callable[[Json], Any]) -> None:
        by(living.topology)
        living.save()

    yield change
    living.topology = before
    living.save()


def refused(rehearsal: Rehearsal) -> str:
    """Return what a preview says, after an `up` that changed nothing either."""
    before, seen = rehearsal.state(), len(rehearsal.journal("configuration"))
    rehearsal.pulumi("up", "--yes", "--skip-preview", "--non-interactive", fails=True)
    assert [resource["urn"] for resource in rehearsal.state()] == [resource["urn"] for resource in before]
    assert len(rehearsal.journal("configuration")) == seen
    said = rehearsal.pulumi("preview", "--non-interactive", fails=True).partition("Diagnostics:")[2]
    assert "nothing was changed" in said and "Traceback" not in said
    return said


def warned(rehearsal: Rehearsal) -> list[str]:
    said = rehearsal.pulumi("preview", "--non-interactive").partition("Diagnostics:")[2].partition("Outputs:")[0]
    return re.findall(r"warning: (?!using pulumi-)(.*)", said)


def test_control_planes_that_disappear_are_refused_together_by_name(
    living: Rehearsal, edit: Callable[[Callable[[Json], Any]], None]
) -> None:
    edit(lambda topology: topology["nodes"].pop(1) and topology["nodes"].pop(1))
    said = refused(living)
    assert (
        "lab-controlplane-02 (127.0.10.12) and lab-controlplane-03 (127.0.10.13) are missing, but are 2 of the 3"
        in said
    )
    assert "retired one at a time" in said


def test_another_name_for_the_cluster_does_not_hide_a_control_plane_that_disappears(
    living: Rehearsal, edit: Callable[[Callable[[Json], Any]], None]
) -> None:
    edit(lambda topology: topology.update(name="other", nodes=[*topology["nodes"][:2], *topology["nodes"][3:]]))
    said = living.pulumi("preview", "--non-interactive", fails=True)
    assert "lab-controlplane-03 (127.0.10.13) is missing, but is one of the 3 control planes" in said


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        ({"contract": "v1.12"}, "versions.contract: v1.12 is not what this cluster was created with (v1.13)"),
        ({"kubernetes": "v1.35.1"}, "versions.kubernetes: v1.35.1 is a minor version or more below v1.36.2"),
    ],
    ids=["contract", "kubernetes"],
)
def test_a_version_that_a_living_cluster_cannot_have_is_refused(
    living: Rehearsal, edit: Callable[[Callable[[Json], Any]], None], versions: Json, said: str
) -> None:
    edit(lambda topology: topology["versions"].update(versions))
    assert said in refused(living)


def test_another_talos_version_is_said_once_with_what_happens_to_which_machines(
    living: Rehearsal, edit: Callable[[Callable[[Json], Any]], None]
) -> None:
    edit(lambda topology: topology["versions"].update(talos="v1.13.8"))
    assert warned(living) == []
    said = living.pulumi("preview", "--non-interactive").partition("Diagnostics:")[2]
    assert said.count("Talos v1.13.9 to v1.13.8 on lab-controlplane-01, lab-controlplane-02, lab-controlplane-03,") == 1
    assert "each installs it, its pods are moved away and it reboots; one control plane at a time" in said


def test_what_becomes_of_a_worker_that_leaves_and_of_the_kubeconfig_of_another_endpoint_is_said(
    living: Rehearsal, edit: Callable[[Callable[[Json], Any]], None]
) -> None:
    edit(lambda topology: topology["nodes"].pop() and topology["network"].update(vip="127.0.10.6"))
    worker, kubeconfig = warned(living)
    assert worker.startswith("nodes: lab-worker-02 (127.0.10.22) is no longer among them: its machine keeps running")
    assert "`kubectl delete node lab-worker-02`" in worker
    assert kubeconfig.startswith("endpoint: https://127.0.10.6:6443 is not the endpoint in the output kubeconfig")


def test_nothing_is_destroyed_of_a_living_cluster(living: Rehearsal) -> None:
    before = [resource["urn"] for resource in living.state()]
    for options in ([], ["--parallel", "100"], ["--continue-on-error"]):
        said = living.pulumi("destroy", "--yes", "--skip-preview", "--non-interactive", *options, fails=True)
        assert "cannot be deleted" in said and "it is protected" in said
        assert [resource["urn"] for resource in living.state()] == before
    assert living.steps() == {}


def test_a_machine_that_was_reset_is_installed_again_by_the_command_that_diff_names(
    living: Rehearsal,
) -> None:
    reset(living, "lab-controlplane-03")
    said = living.command(sys.executable, "-m", "cli", "diff", "--stack", "lab", fails=True)
    named = re.search(r"plane-03: it is in maintenance mode, without a configuration: `pulumi (up [^`]*)`", said)
    assert named, said
    living.pulumi(*shlex.split(named[1]), "--yes", "--skip-preview", "--non-interactive")
    assert [each["machine"] for each in living.journal("configuration")][-1] == "lab-controlplane-03"
    assert living.steps() == {} and living.journal("violation") == []


def test_a_control_plane_is_retired_by_the_commands_that_the_refusal_names(living: Rehearsal) -> None:
    reset(living, "lab-controlplane-02")
    living.topology["nodes"].pop(1)
    living.save()
    said = refused(living)
    found = re.search(r"`talosctl -n 127.0.10.12 reset`, then `pulumi (state delete [^`]*) '([^`]*)'`", said)
    assert found
    living.pulumi(*found[1].split(), "--yes", found[2])
    living.up()
    assert living.steps() == {} and living.journal("violation") == []
