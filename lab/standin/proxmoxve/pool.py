"""``PoolLegacy``: a resource pool. ``hardware.mapping.Pci``: a name for PCI devices, the only way in for API tokens."""

import re
from collections import Counter

from lab.standin.proxmoxve.session import Session
from lab.standin.resource import ProviderError, Resource
from lab.standin.schema import Failure, ResourceSchema
from lab.standin.values import UNKNOWN, Properties

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_DEVICE = re.compile(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}")


class Pool(Resource):
    """A pool; its id is its name."""

    replaced_by = frozenset({"poolId"})

    def __init__(self, schema: ResourceSchema, session: Session) -> None:
        """Stand in for the SDK's pool."""
        self.schema = schema
        self._session = session

    def check(self, name: str, inputs: Properties) -> list[Failure]:
        """Refuse a name that Proxmox VE does not take."""
        pool = inputs["poolId"]
        if pool is UNKNOWN or all(_NAME.fullmatch(part) for part in pool.split("/")):
            return []
        return [Failure("poolId", f"poolId: {pool} is not a pool name")]

    async def plan(self, state: Properties | None, inputs: Properties) -> Properties:
        """The members come and go with the virtual machines."""
        return {"members": (state or {}).get("members", []), **inputs}

    async def create(self, planned: Properties, inputs: Properties) -> tuple[str, Properties]:
        """Make the pool; one of that name must not exist."""
        self._session.authorize()
        with self._session.store.change() as state:
            if planned["poolId"] in state["pools"]:
                raise ProviderError(f"create pool failed: pool '{planned['poolId']}' already exists")
            state["pools"][planned["poolId"]] = {}
        return planned["poolId"], planned

    async def read(self, identity: str, state: Properties) -> Properties | None:
        """Tell whether the pool is there."""
        self._session.authorize()
        return state if identity in self._session.store.read()["pools"] else None

    async def update(self, identity: str, state: Properties, planned: Properties, inputs: Properties) -> Properties:
        """Keep the comment."""
        return planned

    async def delete(self, identity: str, state: Properties) -> None:
        """Remove the pool; one with members is refused."""
        self._session.authorize()
        with self._session.store.change() as changed:
            members = [vm for vm, facts in changed["vms"].items() if facts.get("pool") == identity]
            if members:
                raise ProviderError(f"delete pool failed: pool '{identity}' is not empty (VM {', '.join(members)})")
            changed["pools"].pop(identity, None)


class PciMapping(Resource):
    """A PCI resource mapping; its id is its name."""

    replaced_by = frozenset({"name"})

    def __init__(self, schema: ResourceSchema, session: Session) -> None:
        """Stand in for one of the SDK's two names of this resource."""
        self.schema = schema
        self._session = session

    def check(self, name: str, inputs: Properties) -> list[Failure]:
        """Refuse a device id that is no vendor:device pair."""
        found = []
        for index, device in enumerate(inputs["maps"] if isinstance(inputs["maps"], list) else []):
            if device["id"] is not UNKNOWN and not _DEVICE.fullmatch(device["id"]):
                found.append(Failure(f"maps[{index}].id", f"maps[{index}].id must look like 10de:2684"))
        return found

    async def plan(self, state: Properties | None, inputs: Properties) -> Properties:
        """Nothing is computed but the default."""
        return {"mediatedDevices": False, **inputs}

    async def create(self, planned: Properties, inputs: Properties) -> tuple[str, Properties]:
        """Make the mapping."""
        self._session.authorize()
        name = planned.get("name")
        if not name:
            raise ProviderError("a PCI mapping needs a name")
        with self._session.store.change() as state:
            if name in state["pci"]:
                raise ProviderError(f"PCI mapping '{name}' already exists")
            state["pci"][name] = {"devices": _devices(planned)}
        return name, planned

    async def read(self, identity: str, state: Properties) -> Properties | None:
        """Tell whether the mapping is there."""
        self._session.authorize()
        return state if identity in self._session.store.read()["pci"] else None

    async def update(self, identity: str, state: Properties, planned: Properties, inputs: Properties) -> Properties:
        """Change the devices."""
        self._session.authorize()
        with self._session.store.change() as changed:
            changed["pci"][identity] = {"devices": _devices(planned)}
        return planned

    async def delete(self, identity: str, state: Properties) -> None:
        """Remove the mapping."""
        self._session.authorize()
        with self._session.store.change() as changed:
            changed["pci"].pop(identity, None)


def _devices(planned: Properties) -> dict[str, int]:
    """Count the devices behind a mapping on each host."""
    return dict(Counter(device["node"] for device in planned["maps"]))
