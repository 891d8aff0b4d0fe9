"""Nodes: found, cordoned by somebody, and let go."""

import ssl

import pytest

from kubeapi import Client, KubernetesError, nodes
from tests.kubeapi.server import Api, node

OWNER = "example.net/cordoned"


@pytest.fixture
def api() -> Api:
    return Api({"a": node("a", "10.0.0.1"), "b": node("b", "10.0.0.2", annotations={"other": "stays"})})


async def test_a_node_is_found_by_the_address_of_its_machine_and_else_by_name(api: Api) -> None:
    async with api.client() as client:
        by_address = await nodes.node_at(client, "10.0.0.2", "a")
        by_name = await nodes.node_at(client, "10.0.0.9", "a")
        assert by_address and by_address.name == "b" and by_address.ready and by_address.kubelet == "v1.36.2"
        assert by_name and by_name.name == "a"
        assert await nodes.node_at(client, "10.0.0.9", "c") is None


async def test_a_cordon_has_an_owner_and_goes_with_it(api: Api) -> None:
    async with api.client() as client:
        await nodes.cordon(client, "b", OWNER)
        cordoned = await nodes.node_at(client, "10.0.0.2", "b")
        assert cordoned and cordoned.unschedulable and cordoned.annotations == {"other": "stays", OWNER: "true"}
        await nodes.uncordon(client, "b", OWNER)
        free = await nodes.node_at(client, "10.0.0.2", "b")
        assert free and not free.unschedulable and free.annotations == {"other": "stays"}


async def test_a_node_that_is_gone_needs_no_uncordoning_and_takes_no_cordon(api: Api) -> None:
    async with api.client() as client:
        await nodes.uncordon(client, "gone", OWNER)
        with pytest.raises(
            KubernetesError, match=r'the Kubernetes API at https://127.0.0.1:6443: nodes "gone" not found'
        ):
            await nodes.cordon(client, "gone", OWNER)


async def test_a_server_that_is_not_there_is_said_without_a_status() -> None:
    async with Client("https://127.0.0.1:1", ssl.create_default_context()) as client:
        with pytest.raises(KubernetesError, match=r"the Kubernetes API at https://127\.0\.0\.1:1: ") as raised:
            await client.ready()
    assert raised.value.status is None
