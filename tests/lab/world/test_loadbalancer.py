"""The load balancer of the lab, on loopback addresses."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from lab.loadbalancer import LoadBalancer
from lab.stackfile import StackFile

NETWORK = f"127.90.{os.getpid() % 250}"
PORT = 26443


async def answering(name: str, octet: int) -> asyncio.Server:
    """A server that says its name, then what it is told until the end."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(name.encode() + b" " + await reader.readline())
        await writer.drain()
        writer.close()

    return await asyncio.start_server(serve, f"{NETWORK}.{octet}", PORT)


async def ask(text: str = "hello") -> str:
    reader, writer = await asyncio.open_connection(f"{NETWORK}.5", PORT)
    writer.write(text.encode() + b"\n")
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer.decode()


@pytest_asyncio.fixture
async def balancer() -> AsyncIterator[LoadBalancer]:
    found = LoadBalancer([f"{NETWORK}.{octet}" for octet in (11, 12, 13)], PORT)
    await found.listen(f"{NETWORK}.5", PORT)
    yield found
    found.close()


@pytest.mark.usefixtures("balancer")
async def test_control_planes_take_turns_and_one_that_is_down_is_passed_over() -> None:
    servers = [await answering("one", 11), await answering("three", 13)]
    answers = [await ask() for _ in range(3)]
    assert {answer.split()[0] for answer in answers} == {"one", "three"}
    assert all(answer.endswith("hello\n") for answer in answers)
    for server in servers:
        server.close()


@pytest.mark.usefixtures("balancer")
async def test_with_every_control_plane_down_the_connection_ends() -> None:
    assert await ask() == ""


async def test_large_answers_arrive_whole(balancer: LoadBalancer) -> None:
    servers = [await answering("x" * 300_000, octet) for octet in (11, 12, 13)]
    assert len(await ask()) == 300_000 + len(" hello\n")
    for server in servers:
        server.close()


async def test_closing_cuts_what_is_open(balancer: LoadBalancer) -> None:
    servers = [await answering("one", octet) for octet in (11, 12, 13)]
    reader, writer = await asyncio.open_connection(f"{NETWORK}.5", PORT)
    writer.write(b"part of a line")
    await writer.drain()
    while not balancer._connections:
        await asyncio.sleep(0)
    balancer.close()
    with contextlib.suppress(ConnectionResetError):
        assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()
    for server in servers:
        server.close()


def stack(**cluster: object) -> StackFile:
    return StackFile("trial", Path("Pulumi.trial.yaml"), cluster)


def test_addresses_of_load_balancers_answer_and_the_endpoints_name_leads_there() -> None:
    found = stack(
        endpoint="https://k8s.example.net:443",
        apiServer={"loadBalancers": ["10.9.0.5", "10.9.0.6", "fd00::5", 7]},
        nodes=[
            {"name": "cp", "role": "controlplane", "address": "10.1.0.11"},
            {"name": "w", "role": "worker", "address": "10.1.0.21"},
        ],
    )
    assert (found.load_balancers, found.endpoint_port) == (["10.9.0.5", "10.9.0.6"], 443)
    assert found.control_planes == ["10.1.0.11"]
    assert found.names()["k8s.example.net"] == ["10.9.0.5", "10.9.0.6"]
    assert {str(address) for address in found.addresses} >= {"10.9.0.5", "10.9.0.6"}


def test_odd_content_is_no_load_balancer() -> None:
    for odd in ({"apiServer": 3}, {"apiServer": {"loadBalancers": "x"}}, {"endpoint": "https://[x"}):
        assert (stack(**odd).load_balancers, stack(**odd).endpoint_port) == ([], 6443)
