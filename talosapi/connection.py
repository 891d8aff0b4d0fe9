"""One connection to one machine: deadlines, relaying, and what failed in words of this room."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from google.protobuf.message import Message
from grpclib.client import Channel, ServiceMethod, Stream
from grpclib.const import Status
from grpclib.encoding.base import StatusDetailsCodecBase
from grpclib.exceptions import GRPCError, ProtocolError, StreamTerminatedError
from h2.exceptions import H2Error

from talosapi.errors import Code, TalosError
from talosapi.gen.common_pb2 import Metadata

T = TypeVar("T")
Request = TypeVar("Request", bound=Message)
Answer = TypeVar("Answer", bound=Message)
_GRACE = 0.5  # seconds: the machine is told so much more than is waited here, so that one deadline is always the first

_CLOCKS = "compare the machine's clock with the one here"
_WRONG_NAME = "see that this is its address, or name the address in machine.certSANs"
_ANOTHER_CLUSTER = "it is in maintenance mode or belongs to another cluster: look at its console"
# By OpenSSL's numbers: not yet valid, expired, another name, another address.
_VERIFY_CURES = {9: _CLOCKS, 10: _CLOCKS, 62: _WRONG_NAME, 64: _WRONG_NAME}


class _NoDetails(StatusDetailsCodecBase):
    """Talos says everything in the message. grpclib's own codec defines google.rpc.Status, as Pulumi's SDK does too."""

    def encode(self, status: Status, message: str | None, details: object) -> bytes:
        """Send none."""
        return b""

    def decode(self, status: Status, message: str | None, data: bytes) -> None:
        """Read none."""


class _Part(Protocol):
    """One machine's part of an answer."""

    @property
    def metadata(self) -> Metadata:
        """Return who answered."""


PartT = TypeVar("PartT", bound=_Part)


class Connection:
    """Makes calls over one channel, each in a task of its own and with a deadline in seconds."""

    def __init__(self, node: str, address: str, port: int, context: ssl.SSLContext, relay_to: str | None) -> None:
        """Open nothing yet: the channel connects with the first call, and again after it was lost."""
        self._node = node
        self._where = f"{address}:{port}"
        self._metadata = {"node": relay_to} if relay_to else {}
        self._closed_cure = (
            "try again; when it always does, it does not take these credentials"
            if context.verify_mode is ssl.CERT_REQUIRED
            else "it is configured already: use the credentials of its cluster"
        )
        self.channel = Channel(address, port, ssl=context, status_details_codec=_NoDetails())

    def close(self) -> None:
        """End the connection; calls that are under way fail."""
        self.channel.close()

    async def call(self, method: ServiceMethod[Request, Answer], requests: Sequence[Request], timeout: float) -> Answer:
        """Make a call with one answer; raises TalosError."""

        async def exchange() -> Answer | None:
            async with method.open(timeout=timeout + _GRACE, metadata=self._metadata) as stream:
                await _send(stream, requests)
                return await stream.recv_message()

        answer = await self._guarded(exchange, timeout)
        if answer is None:
            raise self.error(Code.INTERNAL, "it ended the call without an answer")
        return answer

    async def stream(
        self, method: ServiceMethod[Request, Answer], request: Request, timeout: float
    ) -> AsyncGenerator[Answer]:
        """Make a call with many answers; the deadline is for each of them. Raises TalosError."""
        async with method.open(metadata=self._metadata) as stream:
            await self._guarded(lambda: _send(stream, [request]), timeout)
            while (answer := await self._guarded(stream.recv_message, timeout)) is not None:
                yield answer
            await self._guarded(stream.recv_trailing_metadata, timeout)

    def single(self, parts: Sequence[PartT]) -> PartT:
        """Return the part of the one machine that was asked; raises the TalosError a relaying machine put in it."""
        if not parts:
            raise self.error(Code.INTERNAL, "its answer is empty")
        metadata = parts[0].metadata
        if metadata.error:
            raise self.error(_code(metadata.status.code), metadata.error)
        return parts[0]

    def error(self, code: Code, message: str, *, cure: str | None = None) -> TalosError:
        """Return the error for this machine."""
        return TalosError(self._node, code, message, cure=cure)

    async def _guarded(self, exchange: Callable[[], Awaitable[T]], timeout: float) -> T:
        # In a task of its own: grpclib wakes a waiting call by cancelling the task it runs in, and that would count
        # as a cancellation of the caller.
        task: asyncio.Task[T] = asyncio.create_task(_run(exchange))
        try:
            async with asyncio.timeout(timeout):
                return await task
        except (TalosError, GRPCError, OSError, StreamTerminatedError, ProtocolError, H2Error) as error:
            raise self._translate(error, timeout) from None

    def _translate(self, error: Exception, timeout: float) -> TalosError:
        match error:
            case TalosError():
                return error
            case GRPCError():
                return self.error(error.status, error.message or "it said no more")
            case ssl.SSLCertVerificationError():
                cure = _VERIFY_CURES.get(error.verify_code, _ANOTHER_CLUSTER)
                return self.error(
                    Code.UNAUTHENTICATED, f"its certificate is refused: {error.verify_message}", cure=cure
                )
            case ssl.SSLError():
                reason = (error.reason or "handshake failed").lower().replace("_", " ")
                return self.error(Code.UNAUTHENTICATED, f"TLS with {self._where} failed: {reason}")
            case TimeoutError():
                self.close()  # a machine that was switched off leaves a connection that looks alive
                return self.error(Code.DEADLINE_EXCEEDED, f"no answer from {self._where} within {timeout:g} s")
            case OSError():
                reason = (error.strerror or str(error) or type(error).__name__).lower()
                refused = isinstance(error, ConnectionRefusedError)
                message = f"no connection to {self._where}: {reason}"
                return TalosError(self._node, Code.UNAVAILABLE, message, refused=refused)
        message = f"{self._where} closed the connection during the call"
        return self.error(Code.UNAVAILABLE, message, cure=self._closed_cure)


async def _run(exchange: Callable[[], Awaitable[T]]) -> T:
    return await exchange()


async def _send(stream: Stream[Request, Answer], requests: Sequence[Request]) -> None:
    for request in requests[:-1]:
        await stream.send_message(request)
    await stream.send_message(requests[-1], end=True)


def _code(number: int) -> Code:
    known = {code.value: code for code in Code if code is not Code.OK}
    return known.get(number, Code.UNKNOWN)
