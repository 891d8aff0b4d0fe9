"""The discovery service of the lab's clusters: which machines there are, also for a while after one is gone."""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.clock import Clock

if TYPE_CHECKING:
    from lab.machine.session import Session

_KEPT = 1800.0  # simulated seconds for which a machine that is not heard of is still listed


@dataclass(frozen=True)
class Affiliate:
    """What a machine told of itself when it was last heard of, in simulated seconds."""

    uuid: str
    hostname: str
    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    role: str
    version: str
    at: float


class Discovery:
    """Owns what machines told of themselves, by cluster. Only a reset takes a machine out before its time."""

    def __init__(self, clock: Clock) -> None:
        """Nobody was heard of yet."""
        self._clock = clock
        self._known: dict[tuple[str, str], Affiliate] = {}

    def hear(self, session: "Session") -> None:
        """Note what a machine that runs tells of itself."""
        hardware, settings = session.machine.hardware, session.settings
        self._known[(settings.cluster_key, hardware.uuid)] = Affiliate(
            hardware.uuid,
            session.hostname,
            ipaddress.ip_address(session.address),
            settings.role,
            session.entry.version,
            self._clock.now(),
        )

    def forget(self, uuid: str) -> None:
        """Take a machine out that leaves of its own accord."""
        self._known = {key: known for key, known in self._known.items() if known.uuid != uuid}

    def members(self, cluster: str) -> Iterator[Affiliate]:
        """The machines of a cluster."""
        for (key, _), known in sorted(self._known.items()):
            if key == cluster and self._clock.now() - known.at < _KEPT:
                yield known
