"""Installer images on the machines, before the first of them changes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from machineconfig import NodeFacts
from talosapi import Code, Credentials, TalosError
from talosapi.conditions import in_maintenance
from talosapi.fleet import Fleet
from talosapi.waiting import Patience, label, saying
from topology import Node, Topology

_WITHOUT = frozenset({Code.UNIMPLEMENTED, Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED})
"""What an older Talos answers, whose upgrade pulls the image, and a machine that is away, which is told later."""


class ImageMissing(Exception):  # noqa: N818 - what a person has to mend is the stack file or a registry
    """Machines that cannot get their installer image: nothing was changed."""


class Installers:
    """Has each machine that runs something else pull what it will be given. Once a run: all are asked at once."""

    def __init__(
        self,
        topology: Topology,
        schematics: Mapping[str, str],
        credentials: Callable[[], Awaitable[Credentials]],
        patience: Patience,
    ) -> None:
        """Ask nobody yet; ``schematics`` are the ids by node."""
        self._topology = topology
        self._schematics = schematics
        self._credentials = credentials
        self._patience = patience
        self._pulled: asyncio.Task[None] | None = None

    async def pulled(self) -> None:
        """Wait until all have theirs. Raises ImageMissing, which names every machine that cannot have it."""
        if self._pulled is None:
            self._pulled = asyncio.create_task(self._pull())
        await asyncio.shield(self._pulled)

    async def _pull(self) -> None:
        async with self._patience.fleet(await self._credentials()) as fleet:
            results = await asyncio.gather(
                *(self._of(fleet, node) for node in self._topology.nodes if self._topology.installs(node))
            )
        if lacking := [line for line in results if line]:
            raise ImageMissing("\n".join([*lacking, "see that version and extensions exist, and the registry answers"]))

    async def _of(self, fleet: Fleet, node: Node) -> str:
        """Let one machine pull; return what is wrong."""
        image = NodeFacts(self._topology, node).installer
        wanted = (str(self._topology.versions.talos), self._schematics[node.name])
        try:
            client = await fleet.client(node)
            if ((await client.version()).tag, await client.schematic()) == wanted:
                return ""
            waiting = f"{label(node)}: still pulling {image}"
            async with saying(self._patience.report or print, lambda waited: f"{waiting} after {waited:.0f} s"):
                await client.pull(image, timeout=self._patience.timeout)
        except TalosError as error:
            if error.code in _WITHOUT or await in_maintenance(fleet, node):
                return ""
            return f"{label(node)}: cannot pull {image}: {error.message}"
        return ""
