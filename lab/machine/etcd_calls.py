"""The etcd calls of the machine API, answered by the real etcd."""

from collections.abc import AsyncIterator, Mapping

from grpclib import GRPCError, Status

from lab.machine.dispatch import Call, Implementation
from lab.machine.etcd import Etcd
from lab.machine.gateway import EtcdError
from lab.machine.lifecycle import control_plane_only
from talosapi.gen import machine_pb2
from talosapi.gen.common_pb2 import Data

_PATH = "/machine.MachineService"
_CHUNK = 32 * 1024  # bytes
_NOT_FOUND = "member not found"


def _etcd(call: Call, name: str) -> Etcd:
    control_plane_only(call, name)
    if call.session.etcd is None:
        raise GRPCError(Status.UNAVAILABLE, "etcd does not run yet")
    return call.session.etcd


def _failure(error: EtcdError, doing: str = "") -> GRPCError:
    known = {status.value for status in Status}
    status = Status(error.code) if error.code in known else Status.UNKNOWN
    return GRPCError(status, f"{doing}{error}")


async def member_list(call: Call) -> machine_pb2.EtcdMemberListResponse:
    """The members as a majority knows them, or as this member does (``query_local``)."""
    etcd = _etcd(call, "member list")
    try:
        gateway = etcd.local() if call.request.query_local else etcd.cluster()
        members = await gateway.members(local=call.request.query_local)
    except EtcdError as error:
        raise _failure(error) from error
    found = [
        machine_pb2.EtcdMember(
            id=member.id,
            hostname=member.name,
            peer_urls=member.peer_urls,
            client_urls=member.client_urls,
            is_learner=member.is_learner,
        )
        for member in members
    ]
    message = machine_pb2.EtcdMembers(legacy_members=[member.name for member in members], members=found)
    return machine_pb2.EtcdMemberListResponse(messages=[message])


async def status(call: Call) -> machine_pb2.EtcdStatusResponse:
    """What this member says of itself."""
    etcd = _etcd(call, "etcd status")
    try:
        said = await etcd.local().status()
    except EtcdError as error:
        raise _failure(error, "failed to query etcd status: ") from error
    numbers = {
        ours: int(said.get(theirs, 0))
        for ours, theirs in (
            *(("db_size", "dbSize"), ("db_size_in_use", "dbSizeInUse"), ("leader", "leader")),
            *(("raft_index", "raftIndex"), ("raft_term", "raftTerm"), ("raft_applied_index", "raftAppliedIndex")),
        )
    }
    member = machine_pb2.EtcdMemberStatus(
        protocol_version=str(said.get("version", "")),
        errors=said.get("errors", ()),
        is_learner=bool(said.get("isLearner", False)),
        member_id=int(said["header"]["member_id"]),
        storage_version=str(said.get("storageVersion", "")),
        **numbers,
    )
    return machine_pb2.EtcdStatusResponse(messages=[machine_pb2.EtcdStatus(member_status=member)])


async def remove_member(call: Call) -> machine_pb2.EtcdRemoveMemberByIDResponse:
    """Take a member out by its id; NotFound when there is none."""
    etcd = _etcd(call, "etcd remove member")
    try:
        await etcd.remove(call.request.member_id)
    except EtcdError as error:
        if _NOT_FOUND in str(error):
            raise GRPCError(Status.NOT_FOUND, str(error)) from error
        raise _failure(error, "failed to remove member: ") from error
    return machine_pb2.EtcdRemoveMemberByIDResponse(messages=[machine_pb2.EtcdRemoveMemberByID()])


async def leave_cluster(call: Call) -> machine_pb2.EtcdLeaveClusterResponse:
    """Leave, stop etcd, lose its data."""
    etcd = _etcd(call, "etcd leave")
    try:
        await etcd.leave()
    except EtcdError as error:
        raise _failure(error, "failed to leave cluster: ") from error
    return machine_pb2.EtcdLeaveClusterResponse(messages=[machine_pb2.EtcdLeaveCluster()])


async def forfeit_leadership(call: Call) -> machine_pb2.EtcdForfeitLeadershipResponse:
    """Hand the lead over; says to whom, or nothing when this member does not lead."""
    etcd = _etcd(call, "etcd forfeit leadership")
    message = machine_pb2.EtcdForfeitLeadership()
    try:
        members = await etcd.local().members()
        if len(members) == 1:
            raise GRPCError(Status.UNKNOWN, "failed to forfeit leadership: cannot forfeit leadership, only one member")
        if int((await etcd.local().status()).get("leader", 0)) == etcd.member:
            heir = next(member for member in members if member.id != etcd.member and not member.is_learner)
            await etcd.local().move_leader(heir.id)
            message.member = heir.name
    except EtcdError as error:
        raise _failure(error, "failed to forfeit leadership: ") from error
    return machine_pb2.EtcdForfeitLeadershipResponse(messages=[message])


async def snapshot(call: Call) -> AsyncIterator[Data]:
    """The database, in pieces."""
    etcd = _etcd(call, "etcd snapshot")
    try:
        data = await etcd.local().snapshot()
    except EtcdError as error:
        raise _failure(error, "failed reading etcd snapshot: ") from error
    for start in range(0, len(data), _CHUNK):
        yield Data(bytes=data[start : start + _CHUNK])


async def recover(call: Call) -> machine_pb2.EtcdRecoverResponse:
    """Keep a snapshot for a bootstrap from it; the whole of it has arrived before this is called."""
    control_plane_only(call, "etcd recover")
    if not call.session.cri:
        raise GRPCError(Status.FAILED_PRECONDITION, "etcd recovery is not available yet: there is no data directory")
    call.session.machine.snapshot.write_bytes(b"".join(chunk.bytes for chunk in call.chunks))
    call.session.machine.record("etcd-snapshot-uploaded")
    return machine_pb2.EtcdRecoverResponse(messages=[machine_pb2.EtcdRecover()])


async def defragment(call: Call) -> machine_pb2.EtcdDefragmentResponse:
    """Defragment this member alone."""
    etcd = _etcd(call, "etcd defragment")
    try:
        await etcd.local().defragment()
    except EtcdError as error:
        raise _failure(error, "failed to defragment etcd: ") from error
    call.session.machine.record("etcd-defragmented")
    return machine_pb2.EtcdDefragmentResponse(messages=[machine_pb2.EtcdDefragment()])


async def alarm_list(call: Call) -> machine_pb2.EtcdAlarmListResponse:
    """The alarms that are raised, of all members."""
    message = machine_pb2.EtcdAlarm(member_alarms=await _alarms(call, disarm=False))
    return machine_pb2.EtcdAlarmListResponse(messages=[message])


async def alarm_disarm(call: Call) -> machine_pb2.EtcdAlarmDisarmResponse:
    """End the alarms, and say which those were."""
    message = machine_pb2.EtcdAlarmDisarm(member_alarms=await _alarms(call, disarm=True))
    return machine_pb2.EtcdAlarmDisarmResponse(messages=[message])


async def _alarms(call: Call, *, disarm: bool) -> list[machine_pb2.EtcdMemberAlarm]:
    etcd = _etcd(call, "etcd alarms")
    try:
        raised = await etcd.local().alarms(disarm=disarm)
    except EtcdError as error:
        raise _failure(error, "failed to read etcd alarms: ") from error
    kinds = machine_pb2.EtcdMemberAlarm.AlarmType
    return [machine_pb2.EtcdMemberAlarm(member_id=member, alarm=kinds.Value(kind)) for member, kind in raised]


ETCD: Mapping[str, Implementation] = {
    f"{_PATH}/EtcdMemberList": member_list,
    f"{_PATH}/EtcdStatus": status,
    f"{_PATH}/EtcdRemoveMemberByID": remove_member,
    f"{_PATH}/EtcdLeaveCluster": leave_cluster,
    f"{_PATH}/EtcdForfeitLeadership": forfeit_leadership,
    f"{_PATH}/EtcdSnapshot": snapshot,
    f"{_PATH}/EtcdRecover": recover,
    f"{_PATH}/EtcdDefragment": defragment,
    f"{_PATH}/EtcdAlarmList": alarm_list,
    f"{_PATH}/EtcdAlarmDisarm": alarm_disarm,
}
