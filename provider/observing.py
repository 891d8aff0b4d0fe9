"""Looking at one machine and its Node until it says what has to be known."""

from provider.marker import Marker
from provider.node import MachineNode, state_of
from provider.refused import Refused
from provider.release import Release
from provider.steps import Seen
from talosapi import Client, Code, NotReady, TalosError
from talosapi.conditions import Unmet, in_maintenance
from talosapi.fleet import Fleet
from talosapi.results import MachineStatus, Stage
from talosapi.waiting import Patience, label, until_met
from versioning import Contract, read_version

_LIFECYCLE = Contract(1, 13)
"""The first release with LifecycleService."""
_LOOK = Patience(timeout=5)


class Observer:
    """Asks one machine. Every method raises NotReady when the time is up, with what was seen last."""

    def __init__(self, release: Release, fleet: Fleet, node: MachineNode, patience: Patience, *, adopt: bool) -> None:
        """Look at nothing yet; ``adopt``: the machine is new to the state."""
        self._release = release
        self._machine = release.machine
        self._fleet = fleet
        self._node = node
        self._patience = patience
        self._adopt = adopt

    async def look(self) -> Seen | None:
        """Return what the machine and its Node say; None for one that is adopted before its first configuration.

        Raises Refused for any other machine that waits for one.
        """
        found: Seen | None = None

        async def look() -> Unmet | None:
            nonlocal found
            try:
                found = await self._seen()
            except TalosError as error:
                if not await in_maintenance(self._fleet, self._machine):
                    return Unmet(error.message, error.cure, "its machine API to answer")
                if not self._adopt:
                    raise Refused(
                        f"{label(self._machine)}: is in maintenance mode: it was reset or installed anew, and has no"
                        " configuration; `up --refresh` gives it one again"
                    ) from None
            return None

        await until_met(self._machine, look, self._patience)
        return found

    async def until_it_runs(self) -> None:
        """Wait until the machine is through with its boot and says that it is ready."""
        waiting_for = "it to run and be ready"

        async def look() -> Unmet | None:
            try:
                status = await (await self._client()).machine_status()
            except TalosError as error:
                return Unmet(error.message, error.cure, waiting_for)
            if status.stage is Stage.RUNNING and status.ready:
                return None
            return Unmet(_told(status), f"`talosctl -n {self._machine.address} dmesg` says how far it is", waiting_for)

        await until_met(self._machine, look, self._patience)

    async def until_no_installer(self) -> None:
        """Wait until no installer is at work. An installation of no image asks that: it is refused in any case."""

        async def look() -> Unmet | None:
            try:
                await (await self._client()).install("")
            except TalosError as error:
                if error.code is not Code.INVALID_ARGUMENT:
                    return Unmet(error.message, error.cure, "its installer to end")
            return None

        await until_met(self._machine, look, self._patience)

    async def _seen(self) -> Seen:
        client = await self._client()
        tag, schematic, boot = (await client.version()).tag, await client.schematic(), await client.boot_id()
        status = await client.machine_status()
        as_wanted = (tag, schematic) == (self._release.version, self._release.schematic)
        marker, cordoned = await self._noted(hurry=self._adopt and as_wanted)
        version = read_version(tag)
        lifecycle = version is None or version.contract >= _LIFECYCLE
        return Seen(tag, schematic, boot, status.stage, status.ready, marker, cordoned, lifecycle)

    async def _noted(self, *, hurry: bool) -> tuple[Marker | None, bool]:
        """Return what is noted on the Node. A machine that is adopted as it is may be of a cluster that is not up."""
        try:
            return state_of(await self._node.read(_LOOK if hurry else None))
        except NotReady:
            if hurry:
                return None, False
            raise

    async def _client(self) -> Client:
        return await self._fleet.client(self._machine)


def _told(status: MachineStatus) -> str:
    reasons = "; ".join(f"{name}: {reason}" for name, reason in status.unmet)
    return f"it is {status.stage.name.lower().replace('_', ' ')}" + (f" ({reasons})" if reasons else "")
