"""The port of the machine API: what a reboot cuts."""

import asyncio
import contextlib
import gc

import pytest
from grpclib.protocol import H2Protocol

from lab.machine import listener
from lab.machine.listener import Listener
from lab.machine.pki import self_signed, server_context
from talosapi import tls


async def test_a_connection_that_is_still_shaking_hands_is_cut_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    accepted = asyncio.Event()
    factory = listener._Server._protocol_factory

    def accept(server: listener._Server) -> H2Protocol:
        accepted.set()
        return factory(server)

    monkeypatch.setattr(listener._Server, "_protocol_factory", accept)
    port = Listener("127.0.10.201", server_context(self_signed("talos", ["127.0.10.201"]), h2=True), {})
    await port.open()
    reader, writer = await asyncio.open_connection("127.0.10.201", listener.API_PORT)
    await asyncio.wait_for(accepted.wait(), 5)
    port.close()
    with contextlib.suppress(ConnectionError):
        await writer.start_tls(tls.insecure_context())
        await asyncio.wait_for(reader.read(), 5)  # to the end of the connection
    writer.close()


async def test_a_connection_that_is_over_and_not_forgotten_yet_is_no_obstacle() -> None:
    port = Listener("127.0.10.201", server_context(self_signed("talos", ["127.0.10.201"]), h2=True), {})
    await port.open()
    gc.disable()
    try:
        _, writer = await asyncio.open_connection("127.0.10.201", listener.API_PORT, ssl=tls.insecure_context())
        assert port._server
        (protocol,) = port._server.protocols
        async with asyncio.timeout(5):
            while not hasattr(protocol, "connection"):
                await asyncio.sleep(0)
            writer.close()
            while hasattr(protocol.connection, "_transport"):
                await asyncio.sleep(0)
        port.close()
    finally:
        gc.enable()


@pytest.mark.parametrize("steps", range(8))
async def test_a_start_that_is_cancelled_leaves_no_open_port(steps: int) -> None:
    address, context = "127.0.10.202", server_context(self_signed("talos", ["127.0.10.202"]), h2=True)
    port = Listener(address, context, {})
    starting = asyncio.create_task(port.open())
    for _ in range(steps):
        await asyncio.sleep(0)
    if starting.cancel():
        with pytest.raises(asyncio.CancelledError):
            await starting
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(address, listener.API_PORT)
    port.close()
