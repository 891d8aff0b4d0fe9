"""No step costs etcd its majority, however often it is tried, and whatever a person did to the members before."""

import re
from collections.abc import Iterator

import pytest

from lab.machine.invariants import QUORUM
from tests.stack.members import remove_member, reset
from tests.stack.rehearsal import Json, Rehearsal

pytestmark = pytest.mark.stack

NAMES = ["lab-controlplane-01", "lab-controlplane-02", "lab-controlplane-03"]


@pytest.fixture(scope="module")
def living(cluster: Rehearsal) -> Rehearsal:
    """Three control planes, the third of which was removed from etcd and stays in the stack file."""
    cluster.topology["rollout"] = {"applyMode": "reboot", "timeout": 8}
    cluster.save()
    remove_member(cluster, NAMES[2], asked=cluster.node(NAMES[0])["address"])
    return cluster


@pytest.fixture(autouse=True)
def no_violation(living: Rehearsal) -> Iterator[None]:
    yield
    assert living.journal("violation") == []


def change(rehearsal: Rehearsal, number: int, **options: object) -> tuple[str, list[Json]]:
    """Bring up a sysctl of every node; return what was printed and which machines got a configuration."""
    before = len(rehearsal.journal())
    rehearsal.patch("all/90-change.yaml", f"machine:\n  sysctls:\n    vm.max_map_count: '{number}'\n")
    output = rehearsal.up(**options)
    return output, [entry for entry in rehearsal.journal()[before:] if entry["event"] == "configuration"]


def test_a_reboot_of_one_of_two_voters_is_refused_every_time_with_the_arithmetic(living: Rehearsal) -> None:
    _, seen = change(living, 262144, fails=True)
    assert [entry["machine"] for entry in seen] in ([], [NAMES[2]]), "only the one without a vote may change"
    for _ in range(2):
        output, seen = change(living, 262144, fails=True)
        assert seen == []
        told = re.search(r"etcd has 2 voters \((\S+), (\S+)\), 2 up, a majority of 2 is 2, and without (\S+) 1", output)
        assert told and {told[1], told[2]} == set(NAMES[:2]) and told[3] in NAMES[:2], output
        assert f"do not vote: {NAMES[2]}" in output and f"get {NAMES[2]} to vote first" in output
        assert "remove-member" not in output


def test_after_what_the_refusal_says_it_joins_again_and_the_change_goes_on(living: Rehearsal) -> None:
    reset(living, NAMES[2])
    living.topology["rollout"] = {"applyMode": "reboot", "timeout": 120}
    living.save()
    _, seen = change(living, 262144)
    assert {entry["machine"] for entry in seen} >= set(NAMES[:2])
    living.topology["rollout"] = {"applyMode": "reboot", "timeout": 8}
    living.save()
    remove_member(living, NAMES[2], asked=living.node(NAMES[0])["address"])


def test_two_that_are_left_in_the_file_still_keep_each_other_up(living: Rehearsal) -> None:
    taken = living.topology["nodes"].pop(2)
    living.save()
    living.forget(taken["name"])
    output, seen = change(living, 262145, fails=True)
    living.topology["nodes"].insert(2, taken)
    living.save()
    assert seen == []
    assert "add a third control plane first" in output and "rollout.acceptQuorumLoss: true" in output


def test_two_control_planes_by_design_change_one_after_the_other_once_the_stack_accepts_it(
    rehearsal: Rehearsal,
) -> None:
    rehearsal.topology["nodes"].pop(2)
    rehearsal.topology["rollout"] = {"applyMode": "reboot"}
    rehearsal.save()
    rehearsal.start()
    rehearsal.up()
    output, seen = change(rehearsal, 262144, fails=True)
    assert seen == [] and rehearsal.journal("violation") == []
    assert re.search(r"etcd has 2 voters .*, 2 up, a majority of 2 is 2, and without \S+ 1 would be left", output)
    assert "waited 0 s" in output, "waiting would not change it"
    rehearsal.topology["rollout"] |= {"acceptQuorumLoss": True}
    rehearsal.save()
    assert "etcd and Kubernetes's API stop while one of them is down" in rehearsal.pulumi("preview")
    _, seen = change(rehearsal, 262144)
    assert {entry["machine"] for entry in seen} >= set(NAMES[:2])
    assert {entry["invariant"] for entry in rehearsal.journal("violation")} == {QUORUM}, "the accepted one"
