"""What a machine says of itself as a whole: the stage of its life, and what it misses to be ready in it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.machine.session import Session

BOOTING, RUNNING = "booting", "running"


def unmet(session: "Session") -> tuple[tuple[str, str], ...]:
    """What is missing, as pairs of condition and reason: only while it boots and runs is anything looked at."""
    return tuple(_unmet(session)) if session.stage in (BOOTING, RUNNING) else ()


def services_up(session: "Session") -> bool:
    """Whether every service runs and is healthy: what ends the boot."""
    etcd = session.etcd is not None and session.etcd.healthy
    return session.cri and session.kubelet.running and (etcd or not session.settings.is_control_plane)


def _unmet(session: "Session") -> Iterator[tuple[str, str]]:
    if session.machine.fault("clock-skew"):
        yield "time", "time is not synced"
    if session.stage == BOOTING or not services_up(session):
        yield "services", "some services are not running or not healthy"
    if session.settings.is_control_plane and not (session.kubeapi and session.kubeapi.running):
        yield "staticPods", "kube-apiserver is not ready"
    if not session.kubelet.joined:
        yield "nodeReady", f'node "{session.hostname}" is not ready'
