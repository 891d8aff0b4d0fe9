"""The lab's Image Factory: the same addresses, ids and refusals as the real one, and images without an inside.

It owns the schematics it was given since it started; an image of any other schematic is not found.
"""

import json
import ssl
import threading
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lab.images import image
from lab.registry import NEWEST, OLDEST, Registry, version_of
from lab.schematic import OFFICIAL, SchematicError, canonical, identity

LARGEST = 1 << 20
"""Bytes of a schematic."""

_INDEX = "application/vnd.oci.image.index.v1+json"

Answer = tuple[HTTPStatus, str, bytes]
Record = Callable[..., None]


class Factory:
    """What the factory knows and answers, without a socket."""

    def __init__(self, record: Record = lambda *_, **__: None, registry: Registry | None = None) -> None:
        """``record(event, **fields)`` is told of every schematic and image; ``registry`` has its installers."""
        self._registry = registry or Registry()
        self._schematics = self._registry.schematics
        self._record = record

    def post(self, path: str, body: bytes) -> Answer:
        """Take a schematic and answer its id."""
        if path != "/schematics":
            return _text(HTTPStatus.NOT_FOUND, "404 page not found")
        try:
            text = canonical(body.decode())
        except (SchematicError, UnicodeDecodeError) as error:
            self._record("schematic refused", why=str(error))
            return _text(HTTPStatus.BAD_REQUEST, str(error))
        name = identity(text)
        self._schematics[name] = text
        self._record("schematic", id=name)
        return _json({"id": name}, HTTPStatus.CREATED)

    def get(self, path: str) -> Answer:
        """Answer an image, a schematic, or one of the lists."""
        parts = path.strip("/").split("/")
        match parts:
            case ["image", schematic, version, name]:
                return self._image(schematic, version, name)
            case ["schematics", schematic] if schematic in self._schematics:
                return HTTPStatus.OK, "application/yaml", self._schematics[schematic].encode()
            case ["v2", installer, schematic, "manifests", version]:
                return self._manifest(f"factory/{installer}/{schematic}:{version}")
            case ["versions"]:
                return _json([f"v1.{minor}.0" for minor in range(OLDEST[1], NEWEST[1] + 1)])
            case ["version", version, "extensions", "official"] if version_of(version):
                return _json([{"name": name, "ref": f"ghcr.io/{name}:{version}"} for name in sorted(OFFICIAL)])
            case ["healthz"]:
                return _text(HTTPStatus.OK, "")
        return _text(HTTPStatus.NOT_FOUND, "404 page not found")

    def _manifest(self, installer: str) -> Answer:
        """Answer what a registry says of an installer image: whether it is there."""
        if why := self._registry.missing(installer):
            error = {"code": "MANIFEST_UNKNOWN", "message": why}
            return _json({"errors": [error]}, HTTPStatus.NOT_FOUND)
        index = {"schemaVersion": 2, "mediaType": _INDEX, "manifests": []}
        return HTTPStatus.OK, _INDEX, json.dumps(index).encode()

    def _image(self, schematic: str, version: str, name: str) -> Answer:
        if schematic not in self._schematics:
            return _text(HTTPStatus.NOT_FOUND, f"schematic ID {schematic!r} not found")
        if not version_of(version):
            return _text(HTTPStatus.NOT_FOUND, f"version {version} is not available")
        content = image(name)
        if content is None:
            return _text(HTTPStatus.NOT_FOUND, f"no image is called {name}")
        self._record("image", schematic=schematic, version=version, name=name)
        return HTTPStatus.OK, "application/octet-stream", content


class Handler(BaseHTTPRequestHandler):
    """HTTP around a factory."""

    protocol_version = "HTTP/1.1"
    timeout = 60

    def __init__(self, factory: Factory, *arguments: Any) -> None:
        """Answer one connection for ``factory``."""
        self.factory = factory
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Answer with a body."""
        self._answer(self.factory.get(urlsplit(self.path).path))

    def do_HEAD(self) -> None:
        """Answer with the headers alone."""
        self._answer(self.factory.get(urlsplit(self.path).path), body=False)

    def do_POST(self) -> None:
        """Take a schematic."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST:
            self.close_connection = True
            return self._answer(_text(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too large"))
        return self._answer(self.factory.post(urlsplit(self.path).path, self.rfile.read(length)))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the journal has it."""

    def _answer(self, answer: Answer, body: bool = True) -> None:
        status, kind, content = answer
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)


class Server(ThreadingHTTPServer):
    """Serves in threads of its own, without a word about clients that go away or do not trust it."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: the client knows."""


def serve(factory: Factory, host: str, port: int, certificate: Path | None) -> Server:
    """Listen at ``host``:``port`` in threads of its own, with TLS unless there is no certificate; close it to stop."""
    server = Server((host, port), partial(Handler, factory))
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=partial(server.serve_forever, 0.1), name="image factory", daemon=True).start()
    return server


def _json(value: Any, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    return status, "application/json", json.dumps(value).encode()


def _text(status: HTTPStatus, text: str) -> Answer:
    return status, "text/plain; charset=utf-8", f"{text}\n".encode()
