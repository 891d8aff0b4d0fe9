"""What the Talos stand-in asks of the Image Factory, and what it computes of its addresses."""

import json
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import pytest

from lab.authority import issue
from lab.standin.talos.provider import Talos
from tests.lab.standin.plugin import Plugin, served

SCHEMATIC = "talos:imageFactory/schematic:Schematic"
IDENTITY = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"


@pytest.fixture
async def plugin() -> AsyncIterator[Plugin]:
    async with served(Talos()) as plugin:
        yield plugin


class Factory(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        wrong = "nope" in text
        body = b"unknown key nope\n" if wrong else json.dumps({"id": IDENTITY}).encode()
        self.send_response(400 if wrong else 201)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def factory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    trusted, certificate = issue(tmp_path_factory.mktemp("factory"), "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Factory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}", trusted
    server.shutdown()


async def test_a_schematic_is_registered_at_the_factory_that_ssl_cert_file_trusts(
    plugin: Plugin, factory: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, trusted = factory
    await plugin.configure(imageFactoryUrl=url)
    with pytest.raises(grpc.aio.AioRpcError, match="CERTIFICATE_VERIFY_FAILED"):
        await plugin.create(SCHEMATIC, {"schematic": "customization: {}\n"})
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    identity, state = await plugin.create(SCHEMATIC, {"schematic": "customization: {}\n"})
    assert identity == state["id"] == IDENTITY
    with pytest.raises(grpc.aio.AioRpcError, match="HTTP 400: unknown key nope"):
        await plugin.create(SCHEMATIC, {"schematic": "nope: 1\n"})
    with pytest.raises(grpc.aio.AioRpcError, match="it is not YAML"):
        await plugin.create(SCHEMATIC, {"schematic": "a: [\n"})


async def test_image_addresses_follow_the_configured_factory(plugin: Plugin) -> None:
    await plugin.configure(imageFactoryUrl="https://127.0.10.2:8443")
    args = {"schematicId": IDENTITY, "talosVersion": "1.13.9", "platform": "nocloud"}
    answer, failures = await plugin.invoke("talos:imageFactory/getUrls:getUrls", args)
    assert failures == []
    assert answer["urls"]["installer"] == f"127.0.10.2:8443/nocloud-installer/{IDENTITY}:v1.13.9"
    assert answer["talosVersion"] == "1.13.9"


async def test_a_factory_address_that_is_none_is_refused(plugin: Plugin) -> None:
    with pytest.raises(grpc.aio.AioRpcError, match="imageFactoryUrl must be an https address"):
        await plugin.configure(imageFactoryUrl="factory.talos.dev")
