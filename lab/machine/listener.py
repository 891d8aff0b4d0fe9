"""The machine API's port: a gRPC server over TLS whose plug can be pulled."""

import asyncio
import contextlib
import ssl
from collections.abc import Mapping
from functools import partial
from typing import cast
from weakref import WeakSet

from google.protobuf.empty_pb2 import Empty
from grpclib.const import Cardinality, Handler, Status
from grpclib.exceptions import GRPCError
from grpclib.protocol import H2Protocol
from grpclib.server import Server, Stream

API_PORT = 50000


class _Methods:
    """What grpclib wants of a service: its methods."""

    def __init__(self, methods: Mapping[str, Handler]) -> None:
        self._methods = methods

    def __mapping__(self) -> Mapping[str, Handler]:
        return self._methods


class _Known(dict[str, Handler]):
    """Answers for methods that nobody serves: grpclib's own answer to them is none that Go's client understands."""

    def get(self, path: str, default: Handler | None = None) -> Handler:  # type: ignore[override]
        return super().get(path) or Handler(partial(_unknown, path), Cardinality.UNARY_STREAM, Empty, Empty)


async def _unknown(path: str, stream: Stream[Empty, Empty]) -> None:
    raise GRPCError(Status.UNIMPLEMENTED, f"method {path.rpartition('/')[2]} is not simulated")


class _Server(Server):
    """grpclib's server, but it remembers its connections: a machine that loses power cuts them."""

    def __init__(self, methods: Mapping[str, Handler]) -> None:
        super().__init__([_Methods(methods)])
        self._mapping = _Known(self._mapping)
        self.protocols: WeakSet[H2Protocol] = WeakSet()

    def _protocol_factory(self) -> H2Protocol:
        protocol = super()._protocol_factory()
        self.protocols.add(protocol)
        return protocol


class Listener:
    """Listens on one address while it is open. Owns the socket and every connection."""

    def __init__(self, address: str, context: ssl.SSLContext, methods: Mapping[str, Handler]) -> None:
        """Remember what to serve; ``open`` starts."""
        self.address = address
        self.context = context
        self._methods = methods
        self._server: _Server | None = None

    async def open(self) -> None:
        """Start listening; raises OSError when the address is not here or taken."""
        server = _Server(self._methods)
        starting = asyncio.ensure_future(server.start(self.address, API_PORT, ssl=self.context))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            # A start that is cancelled itself may leave a port open that nobody can close any more.
            with contextlib.suppress(OSError):
                await starting
                server.close()
            raise
        self._server = server

    def close(self) -> None:
        """Stop listening and cut every connection."""
        server, self._server = self._server, None
        if server:
            server.close()
            for protocol in list(server.protocols):
                connection = getattr(protocol, "connection", None)
                if connection is not None:
                    # A connection that is over has none, and is only not forgotten yet.
                    if transport := getattr(connection, "_transport", None):
                        transport.abort()
                else:
                    protocol.connection_made = partial(_cut, protocol)  # type: ignore[method-assign]


def _cut(protocol: H2Protocol, transport: asyncio.BaseTransport) -> None:
    """Cut a connection that was still shaking hands when the others were cut, as soon as that is over."""
    type(protocol).connection_made(protocol, transport)
    cast(asyncio.WriteTransport, transport).abort()
