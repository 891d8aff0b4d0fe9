"""The machines that are asked while something is waited for: one connection to each."""

import ssl
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from talosapi import client, kubernetes
from talosapi.client import Client
from talosapi.credentials import Credentials


class Machine(Protocol):
    """Anything with a name and an address (its ``str`` is the IP address), such as a node of a topology."""

    @property
    def name(self) -> str:
        """Return the name people know it by."""

    @property
    def address(self) -> object:
        """Return its address."""


@dataclass(frozen=True)
class Ports:
    """Where a machine's two APIs listen."""

    talos: int = client.PORT
    kubernetes: int = kubernetes.PORT


class Fleet:
    """An async context manager that connects to each machine once.

    ``call_timeout`` is each call's, in seconds; ``attempts`` is how often a call that breaks is made.
    """

    def __init__(self, credentials: Credentials, *, ports: Ports, call_timeout: float, attempts: int) -> None:
        """Connect to nothing yet."""
        self.ports = ports
        self.call_timeout = call_timeout
        self._attempts = attempts
        self._credentials = credentials
        self._clients: dict[tuple[str, bool], Client] = {}
        self._kubernetes: dict[str, ssl.SSLContext] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Begin."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection."""
        await self._stack.aclose()

    async def client(self, machine: Machine) -> Client:
        """Return the client of a machine; raises CredentialsError."""
        return await self._client(machine, self._credentials)

    async def anonymous(self, machine: Machine) -> Client:
        """Return a client without credentials, which only a machine in maintenance mode answers."""
        return await self._client(machine, None)

    async def _client(self, machine: Machine, credentials: Credentials | None) -> Client:
        key = (str(machine.address), credentials is not None)
        if key not in self._clients:
            self._clients[key] = made = Client(
                str(machine.address),
                credentials,
                port=self.ports.talos,
                name=machine.name,
                timeout=self.call_timeout,
                attempts=self._attempts,
            )
            await self._stack.enter_async_context(made)
        return self._clients[key]

    async def kubernetes_context(self, machine: Machine) -> ssl.SSLContext:
        """Return the TLS context for the machine's Kubernetes API, from its own kubeconfig; raises TalosError."""
        address = str(machine.address)
        if address not in self._kubernetes:
            kubeconfig = await (await self.client(machine)).kubeconfig()
            self._kubernetes[address] = kubernetes.Identity.of(kubeconfig).context()
        return self._kubernetes[address]

    def forget_kubernetes(self, machine: Machine) -> None:
        """Ask for the kubeconfig again the next time: the cluster's CA may have changed."""
        self._kubernetes.pop(str(machine.address), None)
