"""A machine as people see it."""

from typing import TYPE_CHECKING, Any

from lab.machine.settings import Settings

if TYPE_CHECKING:
    from lab.machine.machine import Machine


def describe(machine: "Machine") -> dict[str, Any]:
    """Plain data about a machine, without a secret."""
    session = machine.session
    settings = session.settings if session else Settings(())
    etcd = session.etcd if session else None
    return {
        "uuid": machine.hardware.uuid,
        "name": machine.name,
        "address": session.address if session else machine.hardware.address,
        "mac": machine.hardware.mac,
        "platform": machine.hardware.platform,
        "stage": session.stage if session else machine.stage,
        "role": settings.role if settings.complete else "",
        "hostname": session.hostname if session else "",
        "cluster": settings.cluster_name if settings.complete else "",
        "talos": machine.version,
        "schematic": machine.entry.schematic,
        "etcd": {"state": etcd.state, "healthy": etcd.healthy, "member": f"{machine.member:016x}"} if etcd else None,
        "joined": bool(session and session.kubelet.joined),
        "vips": [vip.ip for vip in session.vips if vip.held] if session else [],
        "faults": machine.world.faults.active(machine.name),
    }
