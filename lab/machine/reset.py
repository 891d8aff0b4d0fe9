"""Resets: what of a machine's disk is wiped, and how it leaves etcd before."""

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from grpclib import GRPCError, Status

from lab.machine import drain, releases, sequences
from lab.machine.dispatch import Call, Implementation
from lab.machine.gateway import EtcdError
from lab.machine.session_ends import REBOOT, SHUTDOWN
from talosapi.gen import machine_pb2

if TYPE_CHECKING:
    from lab.machine.session import Session

_EVER = ("META", "STATE", "EPHEMERAL")
_DIRECTORIES = ("ETCD", "CRI", "KUBELET", "LOG")  # on EPHEMERAL unless a VolumeConfig gives them a disk of their own


async def reset(call: Call) -> machine_pb2.ResetResponse:
    """Begin to wipe: everything or single partitions, gracefully (etcd is left first) or not, then reboot or shut down.

    A caller learns nothing of a machine that cannot leave etcd: it comes back as it was.
    """
    request, actor = call.request, str(uuid.uuid4())
    labels = frozenset(spec.label for spec in request.system_partitions_to_wipe if spec.wipe)
    _check_labels(call.session, labels)
    if request.user_disks_to_wipe and request.mode == machine_pb2.ResetRequest.SYSTEM_DISK:
        why = "reset failed: invalid input, wipe mode SYSTEM_DISK doesn't support UserDisksToWipe parameter"
        raise GRPCError(Status.UNKNOWN, why)
    call.session.sequences.start(sequences.RESET, actor, lambda: _reset(call.session, request, labels, actor))
    return machine_pb2.ResetResponse(messages=[machine_pb2.Reset(actor_id=actor)])


async def _reset(session: "Session", request: machine_pb2.ResetRequest, labels: frozenset[str], actor: str) -> None:
    machine = session.machine
    await session.enter("resetting")
    machine.record("reset", graceful=request.graceful, reboot=request.reboot, labels=sorted(labels))
    if request.graceful and await drain.cordon(session):
        await drain.drain(session)
    if request.graceful and session.etcd and session.etcd.process.alive:
        try:
            await session.etcd.leave()
        except EtcdError as error:
            return await session.fatal(f"failed to leave cluster: {error}", actor)
    machine.world.discovery.forget(machine.hardware.uuid)
    await session.stop_services()
    if labels:
        _wipe(session, labels)
    elif request.mode != machine_pb2.ResetRequest.USER_DISKS:
        machine.wipe()
    return session.end(REBOOT if request.reboot else SHUTDOWN, actor)


def _check_labels(session: "Session", labels: frozenset[str]) -> None:
    newer = releases.minor(session.entry.version) >= releases.VOLUMES
    for label in sorted(labels - set(_EVER)):
        if not newer or label not in _DIRECTORIES:
            raise GRPCError(Status.UNKNOWN, f'failed to get volume status with label "{label}": not found')
        if "EPHEMERAL" not in labels and not _has_disk(session, label):
            raise GRPCError(Status.UNKNOWN, f'volume "{label}" is a directory on EPHEMERAL: wipe that with it')


def _wipe(session: "Session", labels: frozenset[str]) -> None:
    machine, disk = session.machine, session.machine.disk
    if "STATE" in labels:
        disk.configuration = None
    if "META" in labels:
        disk.staged, disk.unproven = "", False
    if "EPHEMERAL" in labels:
        machine.lose_data()
    if "ETCD" in labels or ("EPHEMERAL" in labels and not _has_disk(session, "ETCD")):
        machine.lose_etcd()


def _has_disk(session: "Session", label: str) -> bool:
    return any(document.get("name") == label for document in session.settings.kind("VolumeConfig"))


RESET: Mapping[str, Implementation] = {"/machine.MachineService/Reset": reset}
