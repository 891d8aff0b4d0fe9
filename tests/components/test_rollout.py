"""Turns of a rollout, without an engine: hooks called by hand, health answered by the test."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import pulumi
import pytest
import yaml

from components import rollout, turns
from components.rollout import Rollout
from components.turns import RolloutStopped
from talosapi import Credentials, NotReady
from talosapi.conditions import WORKER
from talosapi.quorum import Decision
from tests.stack.rehearsal import CHECKOUT
from topology import Topology, load

Hook = Callable[[Any], Awaitable[None]]


class Health:
    """Says that machines are healthy, unless ``lost`` names them; ``back`` lets those that change come back.

    ``asked`` are the control planes that were to go down; those in ``needed`` may not.
    """

    def __init__(self) -> None:
        self.lost: set[str] = set()
        self.ill: set[str] = set()
        self.needed: set[str] = set()
        self.asked: list[str] = []
        self.stood_by: list[str] = []
        self.waited_for: list[str] = []
        self.back = asyncio.Event()
        self.living: bool | None = True

    async def existence(self, planes: Any, credentials: Any, *, patience: Any) -> Any:
        return SimpleNamespace(yes=self.living)

    async def wait_until_it_may(self, step: Any, machine: Any, *args: Any, **options: Any) -> Decision:
        self.asked.append(machine.name)
        if machine.name in self.needed:
            raise NotReady(machine.name, "a majority", "2 voters", "add a third")
        return Decision(True, "3 voters")

    async def wait_others(self, machine: Any, planes: Any, credentials: Any, *, patience: Any) -> None:
        self.stood_by.append(machine.name)

    async def not_ready(self, wanted: Any, credentials: Any, *, patience: Any) -> frozenset[str]:
        return frozenset(machine.name for machine, _ in wanted if machine.name in self.ill)

    async def wait_member(self, machine: Any, planes: Any, credentials: Any, *, patience: Any) -> None:
        await self._wait(machine)

    async def wait(self, wanted: Any, credentials: Any, *, patience: Any) -> None:
        for machine, conditions in wanted:
            if conditions is WORKER:
                await self._wait(machine)
            else:
                self.waited_for.append(machine.name)

    async def answers(self, wanted: Any, credentials: Any, *, patience: Any) -> None:
        return None

    async def _wait(self, machine: Any) -> None:
        await self.back.wait()
        if machine.name in self.lost:
            raise NotReady(machine.name, "etcd to be healthy", "etcd is Failed", "look at it")


@pytest.fixture
async def health(monkeypatch: pytest.MonkeyPatch) -> Health:
    found = Health()
    for module in (rollout, turns):
        monkeypatch.setattr(module, "etcd", found)
    monkeypatch.setattr(rollout, "wait", found.answers)
    for name in ("wait", "wait_others", "wait_member", "not_ready"):
        monkeypatch.setattr(turns, name, getattr(found, name))
    return found


def stack(**changes: Any) -> Topology:
    raw = yaml.safe_load((CHECKOUT / "Pulumi.lab.yaml").read_text())["config"]["talos-stacks:cluster"]
    return load(raw | changes)


def only(hooks: Any) -> Hook:
    """Return the one hook of a list."""
    (hook,) = hooks
    return cast(Hook, hook)


class Change:
    """A change of one machine as the engine makes it: the hook before, the step, the hook after."""

    def __init__(self, rollout: Rollout, topology: Topology, node: str) -> None:
        gates = rollout.machine_gates
        self._args = SimpleNamespace(name=node)
        self._before, self._after = only(gates.before_update), only(gates.after_update)
        self.began = asyncio.Event()

    async def run(self) -> None:
        await self._before(self._args)
        self.began.set()
        await self._after(self._args)


def changes(topology: Topology, *nodes: str) -> list[Change]:
    pulumi.runtime.settings.reset_options()
    credentials = pulumi.Output.from_input(Credentials(b"", b"", b""))
    common = Rollout(topology, {}, credentials)
    return [Change(common, topology, node) for node in nodes]


async def settle() -> None:
    """Let every task run until it waits for something that the test decides."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_one_control_plane_has_the_turn_at_a_time(health: Health) -> None:
    planes = changes(stack(), "lab-controlplane-01", "lab-controlplane-02", "lab-controlplane-03")
    tasks = [asyncio.create_task(change.run()) for change in planes]
    await settle()
    assert [change.began.is_set() for change in planes].count(True) == 1
    health.back.set()
    await asyncio.gather(*tasks)
    assert all(change.began.is_set() for change in planes)


@pytest.mark.parametrize("at_once", [1, 2])
async def test_as_many_workers_change_at_once_as_the_stack_says(health: Health, at_once: int) -> None:
    workers = changes(stack(rollout={"workersAtOnce": at_once}), "lab-worker-01", "lab-worker-02")
    tasks = [asyncio.create_task(change.run()) for change in workers]
    await settle()
    assert [change.began.is_set() for change in workers].count(True) == at_once
    health.back.set()
    await asyncio.gather(*tasks)


async def test_a_machine_that_does_not_come_back_keeps_the_others_as_they_are(health: Health) -> None:
    health.lost.add("lab-controlplane-01")
    first, second, worker = changes(stack(), "lab-controlplane-01", "lab-controlplane-02", "lab-worker-01")
    lost = asyncio.create_task(first.run())
    await settle()
    waiting = asyncio.create_task(second.run())
    await settle()
    health.back.set()
    with pytest.raises(NotReady, match="lab-controlplane-01"):
        await lost
    for change in (waiting, asyncio.create_task(worker.run())):
        with pytest.raises(RolloutStopped, match=r"was left as it was, because lab-controlplane-01 failed"):
            await change
    assert not second.began.is_set() and not worker.began.is_set()


async def test_a_sick_control_plane_has_the_first_turn_because_its_change_may_mend_it(health: Health) -> None:
    health.ill.add("lab-controlplane-03")
    first, second, sick = changes(stack(), *(f"lab-controlplane-0{number}" for number in (1, 2, 3)))
    tasks = [asyncio.create_task(change.run()) for change in (first, second)]
    await settle()
    assert not first.began.is_set() and not second.began.is_set()
    tasks.append(asyncio.create_task(sick.run()))
    await settle()
    assert sick.began.is_set() and not first.began.is_set() and not second.began.is_set()
    health.back.set()
    await asyncio.gather(*tasks)


async def test_a_sick_machine_that_has_no_change_is_not_waited_for_long(
    health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_LATE", 0)
    health.ill.add("lab-controlplane-03")
    health.back.set()
    (change,) = changes(stack(), "lab-controlplane-01")
    await change.run()


async def test_a_healthy_worker_waits_for_the_sick_and_a_sick_one_for_no_worker(health: Health) -> None:
    health.ill.add("lab-worker-02")
    healthy, sick = changes(stack(), "lab-worker-01", "lab-worker-02")
    health.back.set()
    task = asyncio.create_task(healthy.run())
    await sick.run()
    assert health.waited_for == []
    await task
    assert health.waited_for == ["lab-worker-02"]


async def test_a_machine_that_the_quorum_needs_does_not_change_and_stops_the_others(health: Health) -> None:
    health.needed.add("lab-controlplane-01")
    health.back.set()
    first, second, worker = changes(stack(), "lab-controlplane-01", "lab-controlplane-02", "lab-worker-01")
    with pytest.raises(NotReady, match="2 voters; add a third"):
        await first.run()
    for change in (second, worker):
        with pytest.raises(RolloutStopped):
            await change.run()
    assert not any(change.began.is_set() for change in (first, second, worker))


async def test_only_control_planes_are_asked_for_their_vote(health: Health) -> None:
    health.back.set()
    for change in changes(stack(), "lab-worker-01", "lab-controlplane-01"):
        await change.run()
    assert health.asked == ["lab-controlplane-01"]


@pytest.mark.parametrize(("needed", "stands_by"), [(False, []), (True, ["lab-controlplane-03"])])
async def test_a_sick_control_plane_waits_for_the_health_of_others_only_where_its_vote_is_needed(
    health: Health, needed: bool, stands_by: list[str]
) -> None:
    health.ill.add("lab-controlplane-03")
    health.needed |= {"lab-controlplane-03"} if needed else set()
    health.back.set()
    (sick,) = changes(stack(), "lab-controlplane-03")
    if needed:
        with pytest.raises(NotReady):
            await sick.run()
    else:
        await sick.run()
    assert health.stood_by == stands_by


@pytest.mark.parametrize("living", [False, None])
async def test_the_first_configuration_of_a_machine_waits_for_nobody_before_the_cluster_lives(
    health: Health, living: bool | None
) -> None:
    health.living = living
    topology = stack()
    rollout = Rollout(topology, {}, pulumi.Output.from_input(Credentials(b"", b"", b"")))
    gates = rollout.configuration_gates(pulumi.ResourceHook("told", lambda _: None))
    for node in topology.nodes:
        for hooks in (gates.before_create, gates.after_create):
            await only(hooks)(SimpleNamespace(name=node.name))


@pytest.mark.parametrize(("living", "free"), [(False, True), (None, False), (True, False)])
async def test_a_change_waits_unless_the_cluster_surely_does_not_live(
    health: Health, living: bool | None, free: bool
) -> None:
    health.living = living
    planes = changes(stack(), "lab-controlplane-01", "lab-controlplane-02")
    tasks = [asyncio.create_task(change.run()) for change in planes]
    await settle()
    assert all(task.done() for task in tasks) is free
    health.back.set()
    await asyncio.gather(*tasks)
