"""What the machines of one world share: time, the journal, faults, and how they find each other."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lab.clock import Clock
from lab.faults import Faults
from lab.journal import Journal
from lab.machine.discovery import Discovery
from lab.machine.invariants import Invariants
from lab.machine.settings import Settings
from lab.registry import Registry

if TYPE_CHECKING:
    from lab.machine.machine import Machine


@dataclass
class MachineWorld:
    """The surroundings of every machine. Owns the register of machines and the watch over the invariants.

    ``etcd`` and ``etcdutl`` are the real programs; ``workdir`` holds a directory of each machine until it is deleted.
    """

    clock: Clock
    journal: Journal
    faults: Faults
    etcd: Path
    workdir: Path
    registry: Registry = field(default_factory=Registry)
    etcdutl: Path = Path("etcdutl")
    machines: dict[str, "Machine"] = field(default_factory=dict)
    members: dict[int, str] = field(default_factory=dict)  # etcd member id to machine name, also of machines gone

    def __post_init__(self) -> None:
        """Begin to watch the journal and the faults."""
        self.invariants = Invariants(self.journal)
        self.discovery = Discovery(self.clock)
        self.faults.watch(self._fault_switched)

    def register(self, machine: "Machine") -> None:
        """Add a machine; refuses a uuid, name or address that another one has."""
        hardware = machine.hardware
        for other in self.machines.values():
            for key in ("uuid", "name", "address"):
                if getattr(other.hardware, key) == getattr(hardware, key):
                    raise ValueError(f"{key} {getattr(hardware, key)} already belongs to machine {other.name}")
        self.machines[hardware.uuid] = machine

    def forget(self, machine: "Machine") -> None:
        """Remove a machine."""
        self.machines.pop(machine.hardware.uuid, None)

    def find(self, name: str) -> "Machine | None":
        """A machine by uuid, name or address."""
        for machine in self.machines.values():
            if name in (machine.hardware.uuid, machine.hardware.name, machine.hardware.address):
                return machine
        return None

    def peers(self, settings: Settings) -> Iterator["Machine"]:
        """The machines that run with a configuration of the same cluster."""
        for machine in self.machines.values():
            session = machine.session
            if session and session.running and session.settings.cluster_key == settings.cluster_key:
                yield machine

    def control_planes(self, settings: Settings) -> Iterator["Machine"]:
        """The running control planes of a cluster."""
        for machine in self.peers(settings):
            if machine.session and machine.session.settings.is_control_plane:
                yield machine

    async def stop(self) -> None:
        """Power everything off for good; what breaks by that is no violation."""
        self.invariants.off()
        await asyncio.gather(*(machine.delete() for machine in list(self.machines.values())))

    def _fault_switched(self, name: str, fault: str, on: bool) -> None:
        if machine := self.find(name):
            machine.fault_switched(fault, on)
