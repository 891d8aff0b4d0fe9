"""A change of every machine: control planes one at a time, whatever goes wrong."""

import re
from collections.abc import Iterator

import pytest

from tests.stack.rehearsal import Json, Rehearsal

pytestmark = pytest.mark.stack

CONTROL_PLANES = ["lab-controlplane-01", "lab-controlplane-02", "lab-controlplane-03"]
# Talos takes the environment of its services into use at boot only.
REBOOTS_EVERY_NODE = "machine:\n  env:\n    CHANGE: '{number}'\n"


@pytest.fixture(scope="module")
def living(cluster: Rehearsal) -> Rehearsal:
    return cluster


@pytest.fixture(autouse=True)
def no_violation(living: Rehearsal) -> Iterator[None]:
    yield
    assert living.journal("violation") == []


def change(rehearsal: Rehearsal, number: int, **options: object) -> tuple[str, list[Json]]:
    """Bring a change up that reboots every node; return what was printed and what the machines saw of it."""
    before = len(rehearsal.journal())
    rehearsal.patch("all/90-change.yaml", REBOOTS_EVERY_NODE.format(number=number))
    return rehearsal.up(**options), rehearsal.journal()[before:]


def one_at_a_time(seen: list[Json]) -> list[str]:
    """Return the control planes in the order in which they changed; each votes again before the next is changed."""
    order: list[str] = []
    down: set[str] = set()
    for entry in seen:
        machine = entry["machine"]
        if machine not in CONTROL_PLANES:
            continue
        if entry["event"] == "configuration":
            assert not down, f"{machine} was changed while {down} was down"
            order.append(machine)
        elif entry["event"] == "etcd-down":
            down.add(machine)
        elif entry["event"] == "etcd-up":
            down.discard(machine)
    return order


def test_a_change_of_every_node_takes_control_planes_one_at_a_time_and_workers_last(living: Rehearsal) -> None:
    _, seen = change(living, 1)
    order = one_at_a_time(seen)
    assert sorted(order) == CONTROL_PLANES
    configured = [entry["machine"] for entry in seen if entry["event"] == "configuration"]
    assert set(configured[:3]) == set(CONTROL_PLANES)
    assert len(configured) == 5


def test_a_control_plane_that_reboots_late_is_waited_for(living: Rehearsal) -> None:
    living.fault(CONTROL_PLANES[1], "reboot-late", seconds=100)
    _, seen = change(living, 2)
    living.clear(CONTROL_PLANES[1], "reboot-late")
    assert sorted(one_at_a_time(seen)) == CONTROL_PLANES


def test_an_api_that_drops_every_third_call_is_no_obstacle(living: Rehearsal) -> None:
    living.fault(CONTROL_PLANES[0], "drop", every=3)
    _, seen = change(living, 3)
    living.clear(CONTROL_PLANES[0], "drop")
    assert sorted(one_at_a_time(seen)) == CONTROL_PLANES


def test_a_control_plane_that_never_comes_back_stops_the_run_and_the_next_one(living: Rehearsal) -> None:
    living.topology["rollout"] = {"timeout": 8}
    living.save()
    for name in CONTROL_PLANES:
        living.fault(name, "never-back")
    output, seen = change(living, 4, fails=True)
    changed = [entry["machine"] for entry in seen if entry["event"] == "configuration"]
    assert len(changed) == 1, "the rest is untouched"
    lost = changed[0]
    assert re.search(rf"{lost} \(127[0-9.]+\): waited \d+ s for it to be back from its reboot; last seen: ", output), (
        output
    )
    assert "check on its console" in output

    output, seen = change(living, 4, fails=True)
    assert [entry for entry in seen if entry["event"] == "configuration"] == []
    assert lost in output

    for name in CONTROL_PLANES:
        living.clear(name, "never-back")
    living.power(lost, "cycle")
    living.topology["rollout"] = {"timeout": 120}
    living.save()
    _, seen = change(living, 4)
    assert sorted([lost, *one_at_a_time(seen)]) == CONTROL_PLANES


def test_a_member_that_lives_and_is_no_node_of_the_stack_stops_every_change_and_is_not_to_be_removed(
    living: Rehearsal,
) -> None:
    living.topology["rollout"] = {"timeout": 8}
    gone = living.topology["nodes"].pop(2)
    living.save()
    living.forget(gone["name"])
    output, seen = change(living, 5, fails=True)
    assert [entry for entry in seen if entry["event"] == "configuration"] == []
    assert f"there is also {gone['name']} at {gone['address']} (" in output and "and answers" in output
    assert "put it back into the stack file" in output and "remove-member" not in output
