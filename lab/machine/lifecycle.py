"""Calls that change a machine's life: bootstrap, reboot, shutdown, reset, rollback."""

import uuid
from collections.abc import Mapping

from grpclib import GRPCError, Status

from lab.machine import sequences
from lab.machine.dispatch import Call, Implementation
from lab.machine.gateway import EtcdError
from lab.machine.session_ends import REBOOT, SHUTDOWN, WIPE
from talosapi.gen import machine_pb2

_PATH = "/machine.MachineService"
_LABELS = ("EFI", "META", "STATE", "EPHEMERAL")


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
    if call.request.recover_etcd:
        raise GRPCError(Status.UNIMPLEMENTED, "recovering etcd from a snapshot is not simulated")
    if session.etcd.bootstrapping:
        raise GRPCError(Status.ALREADY_EXISTS, "etcd data directory is not empty")
    session.etcd.bootstrap()
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


async def reset(call: Call) -> machine_pb2.ResetResponse:
    """Wipe: gracefully (etcd is left first) or not, everything or single partitions, then reboot or shut down."""
    request = call.request
    for spec in request.system_partitions_to_wipe:
        if spec.label not in _LABELS:
            raise GRPCError(Status.UNKNOWN, f'failed to get volume status with label "{spec.label}": not found')
    if request.user_disks_to_wipe and request.mode == machine_pb2.ResetRequest.SYSTEM_DISK:
        why = "reset failed: invalid input, wipe mode SYSTEM_DISK doesn't support UserDisksToWipe parameter"
        raise GRPCError(Status.UNKNOWN, why)
    actor = str(uuid.uuid4())
    call.session.sequences.start(sequences.RESET, actor, lambda: _reset(call, actor))
    return machine_pb2.ResetResponse(messages=[machine_pb2.Reset(actor_id=actor)])


async def _reset(call: Call, actor: str) -> None:
    session, request = call.session, call.request
    await session.enter("resetting")
    session.machine.record("reset", graceful=request.graceful, reboot=request.reboot)
    if request.graceful and session.etcd and session.etcd.process.alive:
        try:
            await session.etcd.leave()
        except EtcdError as error:
            return await session.fatal(f"failed to leave cluster: {error}", actor)
    partitions = {spec.label for spec in request.system_partitions_to_wipe if spec.wipe}
    if "STATE" in partitions:
        session.machine.disk.configuration = None
    if "EPHEMERAL" in partitions:
        session.machine.lose_etcd = True
    whole = not request.system_partitions_to_wipe and request.mode != machine_pb2.ResetRequest.USER_DISKS
    return session.end((WIPE if whole else "") + (REBOOT if request.reboot else SHUTDOWN), actor)


async def _end(call: Call, how: str, actor: str) -> None:
    call.session.end(how, actor)


async def rollback(call: Call) -> machine_pb2.RollbackResponse:
    """Boot what was installed before the last upgrade."""
    if not call.session.machine.disk.turn_back():
        raise GRPCError(Status.FAILED_PRECONDITION, "there is no previous version to roll back to")
    actor = str(uuid.uuid4())
    call.session.sequences.start(sequences.ROLLBACK, actor, lambda: _end(call, REBOOT, actor))
    return machine_pb2.RollbackResponse(messages=[machine_pb2.Rollback()])


LIFECYCLE: Mapping[str, Implementation] = {
    f"{_PATH}/Bootstrap": bootstrap,
    f"{_PATH}/Reboot": reboot,
    f"{_PATH}/Shutdown": shutdown,
    f"{_PATH}/Reset": reset,
    f"{_PATH}/Rollback": rollback,
}
