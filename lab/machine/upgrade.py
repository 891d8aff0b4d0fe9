"""The older upgrade call: it answers when the image is there, then everything happens without it, reboot included."""

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from grpclib import GRPCError, Status

from lab.machine import drain, images, installer, releases
from lab.machine.dispatch import Call, Implementation
from lab.machine.gateway import EtcdError
from lab.machine.sequences import STAGE_UPGRADE, UPGRADE
from lab.machine.session_ends import REBOOT
from talosapi.gen import machine_pb2

if TYPE_CHECKING:
    from lab.machine.etcd import Etcd
    from lab.machine.session import Session

_LOCK = "talos:v1:upgrade"
_LEASE = 60  # real seconds, as etcd keeps real time
_INVALID = "error validating etcd for upgrade: "


async def upgrade(call: Call) -> machine_pb2.UpgradeResponse:
    """Pull the image, see that etcd keeps its majority, and begin; ``stage`` leaves the installation to the next boot.

    A caller learns nothing of what the installer finds, nor that another sequence runs already.
    """
    session, request = call.session, call.request
    if not session.machine.disk.installed:
        raise GRPCError(Status.FAILED_PRECONDITION, "Talos is not installed")
    try:
        await images.fetch(session, request.image)
    except GRPCError as error:
        why = f"error validating installer image {request.image!r}: {error.message}"
        raise GRPCError(Status.UNKNOWN, why) from error
    careless = request.force or (request.preserve and releases.minor(session.entry.version) >= releases.PRESERVE)
    if session.etcd and not careless:
        await _check_etcd(session, session.etcd)
    actor = str(uuid.uuid4())
    if request.stage:
        session.machine.disk.staged = request.image
        session.sequences.start(STAGE_UPGRADE, actor, lambda: _reboot(session, actor))
    else:
        session.sequences.start(UPGRADE, actor, lambda: _upgrade(session, request.image, actor))
    message = machine_pb2.Upgrade(ack="Upgrade request received", actor_id=actor)
    return machine_pb2.UpgradeResponse(messages=[message])


async def _reboot(session: "Session", actor: str) -> None:
    session.end(REBOOT, actor)


async def _upgrade(session: "Session", image: str, actor: str) -> None:
    await session.enter("upgrading")
    if not await drain.cordon(session):
        return await session.fatal("the node was not cordoned within a minute", actor)
    await drain.drain(session)
    await session.stop_services()
    if code := await installer.run(session, image, lambda _: None):
        return await session.fatal(f"the installer ended with exit code {code}", actor)
    return session.end(REBOOT, actor)


async def _check_etcd(session: "Session", etcd: "Etcd") -> None:
    """One machine of the cluster at a time is checked; nothing keeps two from upgrading after both were."""
    try:
        lease = str((await etcd.local().call("/v3/lease/grant", {"TTL": str(_LEASE)}))["ID"])
        try:
            holder = await etcd.local().claim(_LOCK, session.boot_id, lease)
            if holder != session.boot_id:
                raise EtcdError("failed to acquire upgrade mutex: mutex: Locked by another session")
            await _check_members(etcd)
        finally:
            await etcd.local().call("/v3/lease/revoke", {"ID": lease})
    except EtcdError as error:
        raise GRPCError(Status.UNKNOWN, f"{_INVALID}{error}") from error


async def _check_members(etcd: "Etcd") -> None:
    members = await etcd.cluster().members()
    if len(members) == 2:
        raise EtcdError("etcd member count(2) is insufficient to maintain quorum if upgrade commences")
    for member in members:
        if not member.name:
            raise EtcdError(f"etcd member {member.id:016x} is not started, all members must be running to upgrade")
        hosts = [url.split("//")[-1].rsplit(":", 1)[0] for url in member.client_urls]
        if not await etcd.at(hosts).healthy():
            raise EtcdError(f"etcd member {member.id:016x} is not healthy; all members must be healthy to upgrade")


UPGRADE_CALLS: Mapping[str, Implementation] = {"/machine.MachineService/Upgrade": upgrade}
