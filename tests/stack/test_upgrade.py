"""Another Talos for every machine, in one run that goes on after a kill."""

import json
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.stack.killing import Seen, kill_when, recover
from tests.stack.rehearsal import CHECKOUT, Json, Rehearsal
from tests.stack.resetting import reset

pytestmark = pytest.mark.stack

CONTROL_PLANES = ["lab-controlplane-01", "lab-controlplane-02", "lab-controlplane-03"]
WORKERS = ["lab-worker-01", "lab-worker-02"]
MACHINES = sorted([*CONTROL_PLANES, *WORKERS])


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    """The lab stack, up; its machines boot and install fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_SPEED", "100")
        rehearsal = Rehearsal(tmp_path_factory.mktemp("cluster"))
        rehearsal.start()
        try:
            rehearsal.up()
            yield rehearsal
        finally:
            rehearsal.down()


@pytest.fixture(autouse=True)
def no_violation(living: Rehearsal) -> Iterator[None]:
    yield
    assert living.journal("violation") == []


def want(living: Rehearsal, version: str) -> int:
    """Write another version; return how much was in the journal before."""
    living.topology["versions"]["talos"] = version
    living.save()
    return len(living.journal())


def installed(living: Rehearsal, since: int) -> Counter[tuple[str, str]]:
    """How often which machine got which version."""
    entries = (entry for entry in living.journal()[since:] if entry["event"] == "installed")
    return Counter((entry["machine"], entry["version"]) for entry in entries)


def each_once(version: str) -> Counter[tuple[str, str]]:
    return Counter((machine, version) for machine in MACHINES)


def order_of_reboots(entries: list[Json]) -> list[str]:
    """The machines as they rebooted; a control plane only while all others are up, workers after them."""
    order, down = list[str](), set[str]()
    for entry in entries:
        machine = entry["machine"]
        if entry["event"] == "reboot":
            assert machine not in CONTROL_PLANES or not down - {machine}, f"{machine} went down beside {down}"
            order.append(machine)
        elif entry["event"] == "etcd-down":
            down.add(machine)
        elif entry["event"] == "etcd-up":
            down.discard(machine)
    return order


def nothing_is_left_behind(living: Rehearsal) -> None:
    """No Node is cordoned or has a mark of the provider, and a further run has nothing to do."""
    kubeconfig = living.run.folder / "kubeconfig.test"
    kubeconfig.write_text(living.outputs(secrets=True)["kubeconfig"])
    nodes = json.loads(living.command(sys.executable, str(CHECKOUT / "tests/stack/nodes.py"), str(kubeconfig)))
    assert sorted(nodes) == MACHINES
    assert not [name for name, left in nodes.items() if left]
    assert living.steps() == {}


def test_a_new_version_goes_to_control_planes_one_at_a_time_and_then_to_workers(living: Rehearsal) -> None:
    before = want(living, "v1.13.10")
    living.up()
    entries = living.journal()[before:]
    order = order_of_reboots(entries)
    assert sorted(order[:3]) == CONTROL_PLANES and sorted(order[3:]) == WORKERS
    assert installed(living, before) == each_once("v1.13.10")
    nothing_is_left_behind(living)


def test_other_extensions_reach_every_machine_under_the_same_version(living: Rehearsal) -> None:
    living.topology["images"]["default"]["extensions"].append("siderolabs/qemu-guest-agent")
    before = want(living, living.topology["versions"]["talos"])
    living.up()
    assert sorted(order_of_reboots(living.journal()[before:])) == MACHINES
    assert installed(living, before) == each_once("v1.13.10")
    nothing_is_left_behind(living)


@pytest.mark.parametrize(
    ("version", "event", "times"),
    [
        ("v1.13.11", "installed", 1),
        ("v1.13.12", "reboot", 4),
        pytest.param("v1.13.13", "boot", 2, marks=pytest.mark.exhaustive),
        pytest.param("v1.13.14", "reboot", 1, marks=pytest.mark.exhaustive),
    ],
)
def test_a_run_that_is_killed_goes_on_and_installs_each_machine_once(
    living: Rehearsal, version: str, event: str, times: int
) -> None:
    before = want(living, version)
    count = len(living.journal(event))

    def now(seen: Seen) -> bool:
        return seen.events.count(event) >= count + times

    assert kill_when(living, now) is not None
    recover(living)
    living.up()
    assert installed(living, before) == each_once(version)
    assert sorted(set(order_of_reboots(living.journal()[before:]))) == MACHINES
    nothing_is_left_behind(living)


def test_a_missing_image_is_found_before_the_first_machine_changes(living: Rehearsal) -> None:
    version = living.topology["versions"]["talos"]
    living.fault("lab-worker-02", "image-missing")
    before = want(living, "v1.13.15")
    said = living.up(fails=True)
    living.clear("lab-worker-02", "image-missing")
    assert "lab-worker-02 (127.0.10.22): cannot pull 127.0.10.2:8443/metal-installer/" in said
    assert not installed(living, before)
    want(living, version)
    assert living.steps() == {}


def test_an_installer_that_fails_stops_the_run_with_its_words_and_a_rerun_ends_well(living: Rehearsal) -> None:
    version = living.topology["versions"]["talos"]
    living.fault("lab-controlplane-02", "installer-fails", exit=6)
    before = want(living, "v1.13.16")
    said = living.up(fails=True)
    living.clear("lab-controlplane-02", "installer-fails")
    assert "lab-controlplane-02 (127.0.10.12): the installer ended with exit code" in said
    assert f"it runs {version} as before" in said
    living.up()
    assert installed(living, before) == each_once("v1.13.16")
    nothing_is_left_behind(living)


def test_a_machine_that_comes_back_with_what_it_ran_is_named_and_no_other_is_changed(living: Rehearsal) -> None:
    living.fault("lab-worker-01", "rolls-back")
    before = want(living, "v1.13.17")
    said = living.up(fails=True)
    living.clear("lab-worker-01", "rolls-back")
    assert "lab-worker-01 (127.0.10.21): came back from its reboot with v1.13.16 again, not with v1.13.17" in said
    living.up()
    assert installed(living, before) == each_once("v1.13.17") + Counter({("lab-worker-01", "v1.13.17"): 1})
    nothing_is_left_behind(living)


def test_a_machine_that_was_reset_is_seen_by_a_refresh_and_configured_again(living: Rehearsal) -> None:
    reset(living, "lab-worker-01")
    configured = len(living.journal("configuration"))
    steps = living.steps("--refresh")
    assert {steps[f"{kind} lab-worker-01"] for kind in ("Release", "ConfigurationApply")} <= {
        "replace",
        "create-replacement",
    }
    living.pulumi("up", "--refresh", "--yes", "--skip-preview", "--non-interactive")
    assert [entry["machine"] for entry in living.journal("configuration")[configured:]] == ["lab-worker-01"]
    nothing_is_left_behind(living)


def test_a_machine_that_does_not_answer_is_unknown_to_a_refresh(living: Rehearsal) -> None:
    living.power("lab-worker-02", "off")
    living.pulumi("refresh", "--yes", "--non-interactive")
    assert living.steps() == {}
    living.power("lab-worker-02", "on")
