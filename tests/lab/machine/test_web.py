"""HTTP as the lab's small servers and clients speak it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from lab.machine.pki import client_context, self_signed, server_context
from lab.machine.web import Answer, Request, WebServer, ask

HOST, PORT = "127.0.10.202", 6443
PAIR = self_signed("web", [HOST])
Speak = Callable[[bytes], Awaitable[bytes]]


@pytest.fixture
async def server() -> AsyncIterator[list[Request]]:
    """A server that answers with the body it got; what it was asked is here."""
    asked: list[Request] = []

    async def echo(request: Request) -> Answer:
        asked.append(request)
        return Answer(200, request.body, "text/plain")

    web = WebServer(echo)
    await web.listen(HOST, PORT, server_context(PAIR))
    yield asked
    web.close()


def trusting() -> ssl.SSLContext:
    return client_context(PAIR.crt)


async def spoken(text: bytes) -> bytes:
    """What the server says until it closes the connection."""
    reader, writer = await asyncio.open_connection(HOST, PORT, ssl=trusting())
    writer.write(text)
    try:
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()


async def test_a_question_is_answered(server: list[Request]) -> None:
    answer = await ask(HOST, PORT, trusting(), "/a?b=c", method="PUT", body={"d": 1}, headers={"X-Own": "e"})
    assert (answer.status, answer.json()) == (200, {"d": 1})
    (request,) = server
    assert (request.method, request.path, request.headers["x-own"]) == ("PUT", "/a?b=c", "e")


async def test_a_body_in_chunks_is_put_together(server: list[Request]) -> None:
    head = b"PATCH /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    said = await spoken(head + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    assert said.endswith(b"\r\n\r\nabcde")
    assert server[0].body == b"abcde"


async def test_a_connection_is_used_again(server: list[Request]) -> None:
    again = b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n"
    said = await spoken(again % 1 + again % 2 + b"GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert said.count(b"HTTP/1.1 200") == 3
    assert [request.path for request in server] == ["/1", "/2", "/3"]


@pytest.mark.parametrize(
    "text",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=["nonsense", "no length", "two lengths", "no host"],
)
async def test_what_is_no_question_ends_the_connection(text: bytes, server: list[Request]) -> None:
    assert await spoken(text) == b""
    assert not server
    assert (await ask(HOST, PORT, trusting(), "/")).status == 200, "it serves others"


async def test_a_server_that_goes_away_in_the_middle_is_a_broken_connection() -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        writer.close()

    async with await asyncio.start_server(half, HOST, PORT, ssl=server_context(PAIR)):
        with pytest.raises(ConnectionError, match=rf"{HOST}:{PORT} closed the connection in the middle of an answer"):
            await ask(HOST, PORT, trusting(), "/")
