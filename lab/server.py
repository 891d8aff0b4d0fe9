"""The control socket's other end: what can be asked of the world, and what the world owns."""

import asyncio
import contextlib
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lab.clock import Clock
from lab.faults import Faults
from lab.journal import Journal
from lab.machine.hardware import Hardware
from lab.machine.machine import Machine
from lab.machine.world import MachineWorld
from lab.registry import Registry
from lab.run import Run

LARGEST_LINE = 1 << 20
"""Bytes of a request."""


class World:
    """Everything that is simulated in one run."""

    def __init__(self, run: Run, etcd: Path, etcdutl: Path, speed: float) -> None:
        """Begin empty; ``speed`` simulated seconds pass in a real one."""
        clock = Clock(speed)
        self.run = run
        self.journal = Journal(run.journal, clock)
        self.faults = Faults()
        self.registry = Registry()
        self.over = asyncio.Event()
        self.factory: str | None = None
        self._world = MachineWorld(
            clock, self.journal, self.faults, etcd, run.folder / "machines", self.registry, etcdutl
        )

    async def create(self, hardware: dict[str, Any], power: bool = True) -> dict[str, Any]:
        """Make a machine and begin to boot it."""
        machine = Machine(Hardware.read(hardware), self._world)
        if power:
            await machine.power_on()
        return machine.describe()

    async def delete(self, machine: str) -> bool:
        """Destroy a machine; destroying one that is not there is fine."""
        found = self._world.find(machine)
        if found:
            await found.delete()
        return found is not None

    async def power(self, machine: str, state: str) -> dict[str, Any]:
        """Turn a machine on or off, or cycle it."""
        found = self._find(machine)
        if state not in ("on", "off", "cycle"):
            raise ValueError(f"power is on, off or cycle, not {state!r}")
        if state in ("off", "cycle"):
            await found.power_off()
        if state in ("on", "cycle"):
            await found.power_on()
        return found.describe()

    async def fault(self, machine: str, fault: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Switch a fault on; return what is on then."""
        name = self._find(machine).name
        self.faults.set(name, fault, **arguments)
        return {"name": name, "faults": self.faults.active(name)}

    async def clear(self, machine: str, fault: str | None = None) -> dict[str, Any]:
        """Switch a fault off, or all; return what is on then."""
        name = self._find(machine).name
        self.faults.clear(name, fault)
        return {"name": name, "faults": self.faults.active(name)}

    async def machines(self) -> list[dict[str, Any]]:
        """Describe every machine."""
        return [machine.describe() for machine in self._world.machines.values()]

    async def status(self) -> dict[str, Any]:
        """Describe the world."""
        found = await self.machines()
        return {
            "pid": os.getpid(),
            "factory": self.factory,
            "machines": found,
            "faults": {machine["name"]: self.faults.active(machine["name"]) for machine in found},
            "violations": self.journal.violations(),
            "events": len(self.journal.entries),
        }

    async def shutdown(self) -> None:
        """Begin to end."""
        self.over.set()

    async def end(self) -> None:
        """Power everything off."""
        await self._world.stop()
        self.journal.close()

    def _find(self, name: str) -> Machine:
        found = self._world.find(name)
        if not found:
            names = ", ".join(sorted(machine.name for machine in self._world.machines.values()))
            raise ValueError(f"there is no machine {name}; there are: {names or 'none'}")
        return found


async def listen(world: World, path: Path) -> asyncio.Server:
    """Answer at ``path``, for the owner alone."""
    requests: dict[str, Callable[..., Awaitable[Any]]] = {
        "machines": world.machines,
        "create": world.create,
        "delete": world.delete,
        "power": world.power,
        "fault": world.fault,
        "clear": world.clear,
        "status": world.status,
        "shutdown": world.shutdown,
    }

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, ValueError):
            while line := await reader.readline():
                writer.write(json.dumps(await respond(requests, line), default=str).encode() + b"\n")
                await writer.drain()
        writer.close()

    path.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(answer, path, limit=LARGEST_LINE)
    path.chmod(0o600)
    return server


async def respond(requests: dict[str, Callable[..., Awaitable[Any]]], line: bytes) -> dict[str, Any]:
    """Carry one request out; what is wrong with it becomes the answer."""
    try:
        question = json.loads(line)
        name = question.pop("request", None)
        if name not in requests:
            return {"error": f"the lab does not know the request {name!r}; it knows {', '.join(requests)}"}
        return {"result": await requests[name](**question)}
    except (ValueError, TypeError, AttributeError) as error:
        return {"error": str(error)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
