"""Moving pods away: within budgets and a time limit."""

import asyncio

import pytest

from kubeapi import DrainError, drain
from tests.kubeapi.server import Api, pod


async def test_pods_are_evicted_and_those_that_belong_to_the_machine_stay() -> None:
    staying = [
        pod("daemon", "a", owner="DaemonSet"),
        pod("static", "a", owner="Node"),
        pod("mirror", "a", annotations={"kubernetes.io/config.mirror": "hash"}),
        {**pod("done", "a"), "status": {"phase": "Succeeded"}},
        pod("elsewhere", "b"),
    ]
    api = Api(pods=[*staying, pod("web", "a"), pod("alone", "a", owner="")])
    async with api.client() as client:
        await drain(client, "a", timeout=5, pause=0)
    assert sorted(api.evicted) == ["alone", "web"]
    assert api.pods == staying


async def test_a_budget_is_waited_for() -> None:
    api = Api(pods=[pod("one", "a"), pod("two", "a")], budget=1)
    said: list[str] = []

    def report(line: str) -> None:
        said.append(line)
        api.budget = 1

    async with api.client() as client:
        await drain(client, "a", timeout=5, report=report, pause=0)
    assert sorted(api.evicted) == ["one", "two"]
    assert said[0] == "a: waiting for 2 pods to go: default/one, default/two"


async def test_pods_that_a_budget_holds_are_named_with_the_reason_when_the_time_is_up() -> None:
    api = Api(pods=[pod("one", "a")], budget=0)
    async with api.client() as client:
        with pytest.raises(DrainError, match="a: pods are still on it after 0 s: default/one: Cannot evict pod as it"):
            await drain(client, "a", timeout=0)
    assert api.evicted == []


async def test_an_api_server_that_is_away_for_a_moment_is_asked_again() -> None:
    api = Api(pods=[pod("one", "a")], fails=2)
    async with api.client() as client, asyncio.timeout(5):
        await drain(client, "a", timeout=5, pause=0)
    assert api.evicted == ["one"]
