"""The load balancer in front of the Kubernetes API: TCP from its addresses to whichever control plane answers."""

import asyncio
import contextlib
import itertools
from collections.abc import Sequence

from lab.stackfile import API_PORT, StackFile

_CHUNK = 1 << 16
"""Bytes."""


class LoadBalancer:
    """Owns the listeners. The control planes take turns, and one that refuses a connection is passed over."""

    def __init__(self, control_planes: Sequence[str], port: int = API_PORT) -> None:
        """Forward to ``port`` of the control planes; nothing listens yet."""
        self._control_planes, self._port = tuple(control_planes), port
        self._turn = itertools.count()
        self._servers: list[asyncio.Server] = []
        self._connections: set[asyncio.Task[None]] = set()

    async def listen(self, address: str, port: int) -> None:
        """Take connections at an address; raises OSError where that is not possible."""
        self._servers.append(await asyncio.start_server(self._accept, address, port))

    def close(self) -> None:
        """Stop, and cut every connection."""
        for server in self._servers:
            server.close()
        for connection in self._connections:
            connection.cancel()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            behind = await self._connect()
            if behind is None:
                return
            with contextlib.closing(behind[1]):
                ways = [asyncio.ensure_future(way) for way in (_pump(reader, behind[1]), _pump(behind[0], writer))]
                try:
                    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for way in ways:
                        way.cancel()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        first = next(self._turn)
        for step in range(len(self._control_planes)):
            address = self._control_planes[(first + step) % len(self._control_planes)]
            with contextlib.suppress(OSError):
                return await asyncio.open_connection(address, self._port)
        return None


async def balance(stack: StackFile) -> LoadBalancer:
    """Put the load balancer of a stack in front of its control planes; one without addresses has nothing to do."""
    balancer = LoadBalancer(stack.control_planes)
    for address in stack.load_balancers:
        await balancer.listen(address, stack.endpoint_port)
    return balancer


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
