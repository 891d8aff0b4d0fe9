"""The machine that the program runs on, and the firewall of the stack file."""

from ipaddress import IPv4Address
from typing import Any

import pytest

from components import own_address as module
from components.own_address import locked_out, own_address
from tests.machineconfig.stacks import stack

FIREWALL: dict[str, Any] = {"firewall": {"talosApi": "10.1.0.0/16"}}


def at(monkeypatch: pytest.MonkeyPatch, address: str | None) -> None:
    monkeypatch.setattr(module, "own_address", lambda _: IPv4Address(address) if address else None)


def test_an_address_that_the_firewall_keeps_out_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, "10.2.0.5")
    (line,) = locked_out(stack(**FIREWALL))
    assert line.startswith("firewall.talosApi: does not hold 10.2.0.5, from which this machine reaches cp1: with the")


@pytest.mark.parametrize("address", ["10.1.0.5", "192.168.1.7", None])
def test_an_address_that_gets_in_or_is_not_known_is_clean(address: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, address)
    assert locked_out(stack(**FIREWALL)) == []


def test_without_a_firewall_nobody_is_kept_out(monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, "10.2.0.5")
    assert locked_out(stack()) == []


def test_the_address_is_that_of_the_route() -> None:
    assert own_address(IPv4Address("127.0.0.1")) == IPv4Address("127.0.0.1")
