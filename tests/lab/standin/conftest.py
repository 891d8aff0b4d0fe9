"""Fixtures of the pretended Proxmox VE."""

import threading
from collections.abc import AsyncIterator, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from lab.standin.proxmoxve.provider import Proxmoxve
from lab.standin.proxmoxve.store import Store
from tests.lab.standin.plugin import Plugin, served
from tests.lab.standin.proxmox import TOKEN, Images, World


@pytest.fixture(scope="module")
def factory() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Images)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def proxmox(tmp_path: Path, world: World) -> AsyncIterator[Plugin]:
    async with served(Proxmoxve(Store(tmp_path / "proxmox.json"), world)) as plugin:
        await plugin.configure(endpoint="https://pve:8006", apiToken=TOKEN, insecure="true")
        yield plugin
