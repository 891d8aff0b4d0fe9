"""The Node of a machine, reached through a control plane whose API is ready: its marker, its cordon, its pods."""

import contextlib
from collections.abc import AsyncIterator

from kubeapi import Client, KubernetesError, drain, nodes
from kubeapi.nodes import Node
from provider.marker import ANNOTATION, CORDON, Marker, marker_in
from provider.refused import Refused
from provider.release import Machine, Release
from talosapi import CredentialsError, TalosError
from talosapi.conditions import Unmet
from talosapi.fleet import Fleet
from talosapi.waiting import Patience, Report, until_met

_API = "the Kubernetes API of a control plane"
_CURE = "`talosctl health` says what is missing"


class MachineNode:
    """Owns what this provider writes to one machine's Node. Methods raise NotReady, KubernetesError and Refused."""

    def __init__(self, release: Release, fleet: Fleet, patience: Patience, report: Report) -> None:
        """Ask nobody yet."""
        self._release = release
        self._fleet = fleet
        self._patience = patience
        self._report = report

    async def read(self, patience: Patience | None = None) -> Node | None:
        """Return the Node as it is, None where the machine has none."""
        machine = self._release.machine
        async with self._api(patience or self._patience) as client:
            return await nodes.node_at(client, machine.address, machine.name)

    async def mark(self, marker: Marker) -> None:
        """Write how far the installation is."""
        name = (await self._there()).name
        async with self._api(self._patience) as client:
            await nodes.annotate(client, name, {ANNOTATION: marker.text})

    async def empty(self) -> None:
        """Cordon and drain, within the budgets. Raises DrainError, after it let pods come again."""
        node = await self._there()
        async with self._api(self._patience) as client:
            if not node.unschedulable:
                await nodes.cordon(client, node.name, CORDON)
            if self._release.drain_timeout:
                await drain(client, node.name, timeout=self._release.drain_timeout, report=self._report)

    async def finish(self) -> None:
        """Forget the installation, and let pods come again where it was this provider that let none come."""
        node = await self._there()
        async with self._api(self._patience) as client:
            if CORDON in node.annotations:
                await nodes.uncordon(client, node.name, CORDON)
            if ANNOTATION in node.annotations:
                await nodes.annotate(client, node.name, {ANNOTATION: None})

    async def release_cordon(self) -> None:
        """Let pods come again where it was this provider that let none come."""
        node = await self._there()
        if CORDON in node.annotations:
            async with self._api(self._patience) as client:
                await nodes.uncordon(client, node.name, CORDON)

    async def _there(self) -> Node:
        node = await self.read()
        if node is None:
            name = self._release.machine.name
            raise Refused(
                f"{name}: Kubernetes has no Node of it, so its pods cannot be moved away; see `kubectl get nodes`"
            )
        return node

    @contextlib.asynccontextmanager
    async def _api(self, patience: Patience) -> AsyncIterator[Client]:
        """Wait for a control plane whose API is ready; the machine itself comes last, as it goes down."""
        machine = self._release.machine
        planes = sorted(self._release.control_planes, key=lambda plane: plane == machine)
        async with contextlib.AsyncExitStack() as stack:
            found: list[Client] = []

            async def look() -> Unmet | None:
                seen = [await self._ready(plane, stack, found) for plane in planes if not found]
                return None if found else Unmet("; ".join(filter(None, seen)), _CURE, _API)

            await until_met(machine, look, patience)
            yield found[0]

    async def _ready(self, plane: Machine, stack: contextlib.AsyncExitStack, found: list[Client]) -> str:
        """Add a client of a control plane's API where that is ready; return why not."""
        try:
            context = await self._fleet.kubernetes_context(plane)
            client = Client(f"https://{plane.address}:{self._fleet.ports.kubernetes}", context)
            await stack.enter_async_context(client)
            if not await client.ready():
                return f"{plane.name} answers, and is not ready"
        except (TalosError, CredentialsError, KubernetesError) as error:
            self._fleet.forget_kubernetes(plane)
            return str(error)
        found.append(client)
        return ""


def state_of(node: Node | None) -> tuple[Marker | None, bool]:
    """Return what this provider noted on a Node: the installation, and whether it cordoned it."""
    if node is None:
        return None, False
    return marker_in(node.annotations), CORDON in node.annotations
