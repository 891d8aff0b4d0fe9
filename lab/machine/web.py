"""Just enough HTTP/1.1 over TLS on asyncio: etcd's JSON gateway is asked with it, the API server answers with it."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_LONGEST = 64 * 1024 * 1024  # bytes of one body
_REASONS = {
    200: "OK",
    201: "Created",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    500: "Internal Server Error",
}


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
            lines = [
                f"{method} {path} HTTP/1.1",
                f"Host: {host}:{port}",
                "Connection: close",
                f"Content-Length: {len(data)}",
            ]
            lines += [f"{key}: {value}" for key, value in (headers or {}).items()]
            writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
            await writer.drain()
            return await _answer(reader)
        except (asyncio.IncompleteReadError, ValueError) as error:
            raise ConnectionError(f"{host}:{port} closed the connection in the middle of an answer") from error
        finally:
            writer.transport.abort()


async def _answer(reader: asyncio.StreamReader) -> Answer:
    status = int((await reader.readuntil(b"\r\n")).split()[1])
    headers = await _headers(reader)
    if headers.get("transfer-encoding") == "chunked":
        return Answer(status, await _chunks(reader))
    if "content-length" in headers:
        return Answer(status, await reader.readexactly(int(headers["content-length"])))
    return Answer(status, await reader.read(_LONGEST))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    return bytes(body)


async def _headers(reader: asyncio.StreamReader) -> dict[str, str]:
    headers = {}
    while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
        key, _, value = line.decode("latin-1").partition(":")
        headers[key.strip().lower()] = value.strip()
    return headers


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
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            while request := await self._request(reader, writer):
                answer = await self._handler(request)
                head = (
                    f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Status')}\r\n"
                    f"Content-Type: {answer.content_type}\r\nContent-Length: {len(answer.body)}\r\n\r\n"
                )
                writer.write(head.encode() + answer.body)
                await writer.drain()
                if request.headers.get("connection", "").lower() == "close":
                    break
        self._writers.discard(writer)
        writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
        line = await reader.readline()
        if not line.strip():
            return None
        method, path, _ = line.decode("latin-1").split(" ", 2)
        headers = await _headers(reader)
        body = await reader.readexactly(min(int(headers.get("content-length", 0)), _LONGEST))
        names = _subject(writer.get_extra_info("peercert"))
        return Request(
            method, path, headers, body, "".join(names.get("commonName", [])), tuple(names.get("organizationName", []))
        )


def _subject(certificate: Mapping[str, Any] | None) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for part in (certificate or {}).get("subject", ()):
        for key, value in part:
            names.setdefault(key, []).append(value)
    return names
