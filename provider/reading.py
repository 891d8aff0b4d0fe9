"""What a machine says of its release."""

from provider.release import MAINTENANCE, Machine
from talosapi import Credentials, TalosError
from talosapi.conditions import in_maintenance
from talosapi.fleet import Fleet
from talosapi.waiting import Patience

_LOOK = Patience(timeout=10)


async def seen(machine: Machine, credentials: Credentials, *, patience: Patience = _LOOK) -> dict[str, str]:
    """Return version and schematic, or that it waits for a configuration; nothing where it does not say."""
    async with patience.fleet(credentials) as fleet:
        try:
            return await _running(fleet, machine)
        except TalosError:
            return {"stage": MAINTENANCE} if await in_maintenance(fleet, machine) else {}


async def _running(fleet: Fleet, machine: Machine) -> dict[str, str]:
    client = await fleet.client(machine)
    return {"version": (await client.version()).tag, "schematic": await client.schematic()}
