"""HTTP/1.1 over TLS on asyncio: etcd's JSON gateway is asked with it, the small API server answers with it.

``h11`` knows the protocol. Here are the sockets, which a killed machine cuts without a word.
"""

import asyncio
import contextlib
import json
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import h11

_LONGEST = 64 * 1024 * 1024  # bytes of one body
_PIECE = 64 * 1024  # bytes of one read
_Head: TypeAlias = h11.Request | h11.Response


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"

    @classmethod
    def of(cls, value: object, status: int = 200) -> "Answer":
        """An answer in JSON."""
        return cls(status, json.dumps(value).encode())

    def json(self) -> Any:
        """The body as JSON; raises ValueError when it is none."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Request:
    """What a client asked; ``organizations`` come from its certificate, ``name`` is the certificate's common name."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = field(default=b"", repr=False)
    name: str = ""
    organizations: tuple[str, ...] = ()


async def ask(
    host: str,
    port: int,
    context: ssl.SSLContext,
    path: str,
    *,
    method: str = "GET",
    body: object = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 5.0,
) -> Answer:
    """One exchange on a connection of its own, within ``timeout`` real seconds; raises OSError or TimeoutError."""
    async with asyncio.timeout(timeout):
        reader, writer = await asyncio.open_connection(host, port, ssl=context)
        try:
            data = b"" if body is None else json.dumps(body).encode()
            connection = h11.Connection(h11.CLIENT)
            fields = {"host": f"{host}:{port}", "connection": "close", "content-length": str(len(data))}
            request = h11.Request(method=method, target=path, headers=list((fields | dict(headers or {})).items()))
            _send(connection, writer, request, data)
            await writer.drain()
            answer, content = await _receive(connection, reader)
            if not isinstance(answer, h11.Response):
                raise ConnectionError(f"{host}:{port} closed the connection before it answered")
            return Answer(answer.status_code, content)
        except h11.ProtocolError as error:
            raise ConnectionError(f"{host}:{port} closed the connection in the middle of an answer") from error
        finally:
            writer.transport.abort()


def _send(connection: h11.Connection, writer: asyncio.StreamWriter, head: _Head, body: bytes) -> None:
    """Write one whole message."""
    for event in (head, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(connection.send(event) or b"")


async def _receive(connection: h11.Connection, reader: asyncio.StreamReader) -> tuple[_Head | None, bytes]:
    """Read one whole message; None where the other side is done. Raises h11.ProtocolError for what is none."""
    head: _Head | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_PIECE))
        elif isinstance(event, h11.Request | h11.Response):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > _LONGEST:
                raise h11.RemoteProtocolError("the body is too long", error_status_hint=413)
        elif not isinstance(event, h11.InformationalResponse):  # the end of the message or of the connection
            return head, bytes(body)


class WebServer:
    """Listens on one address and port and answers with ``handler``; owns its connections."""

    def __init__(self, handler: Callable[[Request], Awaitable[Answer]]) -> None:
        """Remember the handler; nothing listens yet."""
        self._handler = handler
        self._servers: list[asyncio.Server] = []
        self._writers: set[asyncio.StreamWriter] = set()

    async def listen(self, host: str, port: int, context: ssl.SSLContext) -> asyncio.Server:
        """Listen on one more address; raises OSError when it is taken or not ours."""
        server = await asyncio.start_server(self._serve, host, port, ssl=context)
        self._servers.append(server)
        return server

    def close(self) -> None:
        """Stop listening and cut every connection, as a killed process does."""
        for server in self._servers:
            server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        self._servers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        connection = h11.Connection(h11.SERVER)
        with contextlib.suppress(OSError, h11.ProtocolError):
            while request := await _request(connection, reader, writer):
                answer = await self._handler(request)
                headers = [("content-type", answer.content_type), ("content-length", str(len(answer.body)))]
                _send(connection, writer, h11.Response(status_code=answer.status, headers=headers), answer.body)
                await writer.drain()
                if connection.our_state is h11.MUST_CLOSE:
                    break
                connection.start_next_cycle()
        self._writers.discard(writer)
        writer.close()


async def _request(
    connection: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Request | None:
    head, body = await _receive(connection, reader)
    if not isinstance(head, h11.Request):
        return None
    names = _subject(writer.get_extra_info("peercert"))
    return Request(
        head.method.decode(),
        head.target.decode(),
        {key.decode("latin-1"): value.decode("latin-1") for key, value in head.headers},
        body,
        "".join(names.get("commonName", [])),
        tuple(names.get("organizationName", [])),
    )


def _subject(certificate: Mapping[str, Any] | None) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for part in (certificate or {}).get("subject", ()):
        for key, value in part:
            names.setdefault(key, []).append(value)
    return names
