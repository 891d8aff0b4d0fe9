"""The first configuration of a new cluster."""

import re

import pytest

from tests.stack.killing import output_of, started
from tests.stack.rehearsal import Rehearsal
from tests.waiting import eventually

pytestmark = pytest.mark.stack

LATE = "lab-controlplane-02"


def test_a_machine_that_is_late_holds_up_no_other(rehearsal: Rehearsal) -> None:
    rehearsal.start()
    rehearsal.fault(LATE, "refuse")
    with started(rehearsal) as up:
        eventually(lambda: len(rehearsal.journal("configuration")) == 4, within=120, what="four configurations")
        assert LATE not in {entry["machine"] for entry in rehearsal.journal("configuration")}
        rehearsal.clear(LATE, "refuse")
        assert up.wait(240) == 0, output_of(rehearsal).read_text()
    assert [entry["machine"] for entry in rehearsal.journal("configuration")][-1] == LATE
    assert rehearsal.journal("violation") == []


def test_a_first_configuration_that_was_wrong_is_corrected_by_another_run(rehearsal: Rehearsal) -> None:
    planes = [node["name"] for node in rehearsal.topology["nodes"] if node["role"] == "controlplane"]
    rehearsal.topology["rollout"] = {"timeout": 10}
    rehearsal.save()
    rehearsal.start()
    for plane in planes:
        rehearsal.fault(plane, "never-back")
    rehearsal.up(fails=True)
    assert rehearsal.journal("etcd-bootstrap") == []
    for plane in planes:
        rehearsal.clear(plane, "never-back")
        rehearsal.power(plane, "cycle")
    rehearsal.topology["rollout"] = {"timeout": 120}
    rehearsal.save()
    rehearsal.patch("all/90-change.yaml", "machine:\n  sysctls:\n    vm.swappiness: '1'\n")
    rehearsal.up()
    assert len(rehearsal.journal("etcd-bootstrap")) == 1
    assert rehearsal.journal("violation") == []


def test_there_is_no_bootstrap_beside_a_control_plane_that_does_not_say_whether_it_has_etcd(
    rehearsal: Rehearsal,
) -> None:
    rehearsal.topology["rollout"] = {"timeout": 15}
    rehearsal.save()
    rehearsal.start()
    rehearsal.fault(LATE, "refuse")
    output = rehearsal.up(fails=True)
    assert rehearsal.journal("etcd-bootstrap") == []
    told = rf"{LATE} \(127[0-9.]+\): waited \d+ s for it to say whether it has etcd, because a second bootstrap"
    assert re.search(told, output), output
    rehearsal.clear(LATE, "refuse")
    rehearsal.topology["rollout"] = {"timeout": 120}
    rehearsal.save()
    rehearsal.up()
    assert [entry["machine"] for entry in rehearsal.journal("etcd-bootstrap")] == ["lab-controlplane-01"]
    assert rehearsal.journal("violation") == []
