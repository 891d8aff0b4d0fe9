"""From the API's messages to values."""

import io
import tarfile
import zlib
from collections.abc import Iterable

from google.protobuf.message import DecodeError

from talosapi import results
from talosapi.gen import lifecycle_pb2, machine_pb2, resources_pb2, storage_pb2

_LARGEST_KUBECONFIG = 1 << 20  # bytes
_LAST_LINES = 3


def version(message: machine_pb2.Version) -> results.Version:
    """Return a version."""
    return results.Version(
        tag=message.version.tag,
        arch=message.version.arch,
        platform=message.platform.name,
        mode=message.platform.mode,
        rbac=message.features.rbac,
    )


def applied(message: machine_pb2.ApplyConfiguration) -> results.Applied:
    """Return what became of a configuration; an unknown mode counts as AUTO."""
    known = {mode.value for mode in results.ApplyMode}
    mode = results.ApplyMode(message.mode) if message.mode in known else results.ApplyMode.AUTO
    return results.Applied(mode=mode, details=message.mode_details, warnings=tuple(message.warnings))


def service(message: machine_pb2.ServiceInfo) -> results.Service:
    """Return a service with the last thing said about it."""
    events = message.events.events
    return results.Service(
        id=message.id,
        state=message.state,
        healthy=None if message.health.unknown or not message.HasField("health") else message.health.healthy,
        message=message.health.last_message or (events[-1].msg if events else ""),
    )


def etcd_member(message: machine_pb2.EtcdMember) -> results.EtcdMember:
    """Return a member."""
    return results.EtcdMember(
        id=message.id,
        hostname=message.hostname,
        peer_urls=tuple(message.peer_urls),
        client_urls=tuple(message.client_urls),
        is_learner=message.is_learner,
    )


def etcd_status(message: machine_pb2.EtcdMemberStatus) -> results.EtcdStatus:
    """Return a member's status."""
    return results.EtcdStatus(
        member_id=message.member_id,
        leader=message.leader,
        raft_index=message.raft_index,
        raft_term=message.raft_term,
        raft_applied_index=message.raft_applied_index,
        db_size=message.db_size,
        is_learner=message.is_learner,
        errors=tuple(message.errors),
        storage_version=message.storage_version,
    )


def disk(message: storage_pb2.Disk) -> results.Disk:
    """Return a disk."""
    return results.Disk(
        device_name=message.device_name,
        size=message.size,
        model=message.model,
        serial=message.serial,
        wwid=message.wwid,
        bus_path=message.bus_path,
        system_disk=message.system_disk,
        readonly=message.readonly,
    )


def machine_status(spec: bytes) -> results.MachineStatus | None:
    """Return a machine's status, None when the bytes are none; a stage of a newer Talos is UNKNOWN."""
    try:
        message = resources_pb2.MachineStatusSpec.FromString(spec)
    except DecodeError:
        return None
    known = {stage.value for stage in results.Stage}
    return results.MachineStatus(
        stage=results.Stage(message.stage) if message.stage in known else results.Stage.UNKNOWN,
        ready=message.status.ready,
        unmet=tuple((condition.name, condition.reason) for condition in message.status.unmet_conditions),
    )


def time_status(spec: bytes) -> bool | None:
    """Return whether a machine's time is synchronised or not meant to be, None when the bytes say nothing of it."""
    try:
        message = resources_pb2.TimeStatusSpec.FromString(spec)
    except DecodeError:
        return None
    return message.synced or message.sync_disabled


def machine_configuration(spec: bytes) -> str | None:
    """Return the text of a configuration, None when the bytes hold none."""
    try:
        return resources_pb2.MachineConfigSpec.FromString(spec).yaml_marshalled.decode() or None
    except (DecodeError, UnicodeDecodeError):
        return None


def kubeconfig(archive: bytes) -> str | None:
    """Return the text of the file kubeconfig in a tar.gz, None when there is no such thing in it."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            member = tar.getmember("kubeconfig")
            file = tar.extractfile(member)
            if file is None or member.size > _LARGEST_KUBECONFIG:
                return None
            return file.read().decode()
    except (tarfile.TarError, OSError, EOFError, KeyError, UnicodeDecodeError, zlib.error):
        return None


def schematic(specs: Iterable[bytes]) -> str:
    """Return the schematic's id out of the layers of an image; empty where none has it."""
    for spec in specs:
        try:
            layer = resources_pb2.ExtensionStatusSpec.FromString(spec)
        except DecodeError:
            continue
        if layer.metadata.name == "schematic":
            return layer.metadata.version
    return ""


def installed(progress: Iterable[lifecycle_pb2.LifecycleServiceInstallProgress]) -> results.Installed:
    """Return how an installer ended."""
    said, code = [], None
    for part in progress:
        if part.WhichOneof("response") == "exit_code":
            code = part.exit_code
        elif part.message.strip():
            said.append(part.message.strip())
    return results.Installed(code, tuple(said[-_LAST_LINES:]))
