"""The services of a machine as ``talosctl services`` shows them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from google.protobuf.timestamp_pb2 import Timestamp

from talosapi.gen.machine_pb2 import ServiceEvent, ServiceEvents, ServiceHealth, ServiceInfo

if TYPE_CHECKING:
    from lab.machine.session import Session


@dataclass(frozen=True)
class Service:
    """One service; ``healthy`` is None where Talos knows no health check."""

    id: str
    state: str = "Running"
    healthy: bool | None = True
    message: str = ""

    def message_of(self, since: float) -> ServiceInfo:
        """As the machine API has it; it has been like this since then, Unix time."""
        changed = Timestamp(seconds=int(since))
        said = self.message or ("Health check successful" if self.healthy else f"Started task {self.id}")
        health = ServiceHealth(
            unknown=self.healthy is None,
            healthy=bool(self.healthy),
            last_message=said if self.healthy else self.message,
        )
        events = ServiceEvents(events=[ServiceEvent(msg=said, state=self.state, ts=changed)])
        return ServiceInfo(id=self.id, state=self.state, events=events, health=health)


def services(session: "Session") -> tuple[Service, ...]:
    """Every service there is at this moment, by name."""
    return tuple(sorted(_services(session), key=lambda service: service.id))


def _services(session: "Session") -> Iterator[Service]:
    yield from (Service("containerd"), Service("machined"), Service("udevd"), Service("syslogd"))
    yield from (Service("apid"), Service("auditd"), Service("dashboard", healthy=None))
    if not session.running:
        return
    yield Service("cri") if session.cri else Service("cri", "Preparing", None, "Running pre state")
    if not session.cri:
        return
    yield Service("kubelet") if session.kubelet.running else Service("kubelet", "Preparing", None, "Running pre state")
    if session.settings.is_control_plane:
        yield Service("trustd")
    if session.etcd:
        etcd = session.etcd
        yield Service("etcd", etcd.state, etcd.healthy if etcd.state == "Running" else None, etcd.message)
