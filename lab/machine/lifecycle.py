"""Calls that change a machine's life: bootstrap, reboot, shutdown, rollback."""

import uuid
from collections.abc import Mapping

from grpclib import GRPCError, Status

from lab.machine import sequences
from lab.machine.dispatch import Call, Implementation
from lab.machine.session_ends import REBOOT, SHUTDOWN
from talosapi.gen import machine_pb2

_PATH = "/machine.MachineService"


def control_plane_only(call: Call, name: str) -> None:
    """Refuse a call that only control planes answer, in Talos's words."""
    if not call.session.configured:
        raise GRPCError(Status.UNIMPLEMENTED, f"machine type is not set, cannot use {name} API")
    if not call.session.settings.is_control_plane:
        raise GRPCError(Status.UNIMPLEMENTED, f"{name} is only available on control plane nodes")


async def bootstrap(call: Call) -> machine_pb2.BootstrapResponse:
    """Start etcd's first member here: once, on a control plane whose etcd waits and has no data."""
    session = call.session
    if not session.cri:
        raise GRPCError(Status.FAILED_PRECONDITION, "bootstrap is not available yet")
    control_plane_only(call, "bootstrap")
    if session.machine.fault("clock-skew"):
        raise GRPCError(Status.FAILED_PRECONDITION, "time is not in sync yet")
    if session.etcd is None or session.etcd.process.has_data:
        raise GRPCError(Status.ALREADY_EXISTS, "etcd data directory is not empty")
    if session.etcd.bootstrapping:
        raise GRPCError(Status.ALREADY_EXISTS, "etcd data directory is not empty")
    request = call.request
    if request.recover_etcd and not session.machine.snapshot.exists():
        raise GRPCError(Status.FAILED_PRECONDITION, "no snapshot of etcd was uploaded to this machine")
    session.etcd.bootstrap(recover=request.recover_etcd, unchecked=request.recover_skip_hash_check)
    return machine_pb2.BootstrapResponse(messages=[machine_pb2.Bootstrap()])


async def reboot(call: Call) -> machine_pb2.RebootResponse:
    """Reboot, whatever the mode: a simulated machine has no kexec."""
    actor = str(uuid.uuid4())
    call.session.sequences.start(sequences.REBOOT, actor, lambda: _end(call, REBOOT, actor))
    return machine_pb2.RebootResponse(messages=[machine_pb2.Reboot(actor_id=actor)])


async def shutdown(call: Call) -> machine_pb2.ShutdownResponse:
    """Shut down; only power brings it back."""
    actor = str(uuid.uuid4())
    call.session.sequences.start(sequences.SHUTDOWN, actor, lambda: _end(call, SHUTDOWN, actor))
    return machine_pb2.ShutdownResponse(messages=[machine_pb2.Shutdown(actor_id=actor)])


async def _end(call: Call, how: str, actor: str) -> None:
    call.session.end(how, actor)


async def rollback(call: Call) -> machine_pb2.RollbackResponse:
    """Boot what was installed before the last upgrade."""
    before = call.session.machine.disk.turn_back()
    if before is None:
        raise GRPCError(Status.FAILED_PRECONDITION, "there is no previous version to roll back to")
    call.session.machine.record("turned-back", to=before.version)
    actor = str(uuid.uuid4())
    call.session.sequences.start(sequences.ROLLBACK, actor, lambda: _end(call, REBOOT, actor))
    return machine_pb2.RollbackResponse(messages=[machine_pb2.Rollback()])


LIFECYCLE: Mapping[str, Implementation] = {
    f"{_PATH}/Bootstrap": bootstrap,
    f"{_PATH}/Reboot": reboot,
    f"{_PATH}/Shutdown": shutdown,
    f"{_PATH}/Rollback": rollback,
}
