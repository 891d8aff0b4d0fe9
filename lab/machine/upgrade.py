"""Upgrades: the old call that reboots by itself, the newer one that leaves the reboot to its caller."""

import uuid
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from grpclib import GRPCError, Status

from lab.machine import durations
from lab.machine.dispatch import Call, Implementation
from lab.machine.gateway import EtcdError
from lab.machine.hardware import image_version
from lab.machine.session_ends import REBOOT
from talosapi.gen import image_pb2, lifecycle_pb2, machine_pb2

if TYPE_CHECKING:
    from lab.machine.session import Session

_STEP = 2  # minor versions that an upgrade may skip at most, counted from the one it starts at


async def upgrade(call: Call) -> machine_pb2.UpgradeResponse:
    """Upgrade and reboot, or leave it for the next boot (``stage``); refuses where etcd would lose its majority."""
    session, request = call.session, call.request
    if not session.machine.disk.installed:
        raise GRPCError(Status.FAILED_PRECONDITION, "Talos is not installed")
    _check_image(session, request.image)
    if session.etcd and not request.force and not request.preserve:
        await _check_etcd(session)
    if request.stage:
        session.machine.disk.staged_upgrade = request.image
        session.end(REBOOT)
    else:
        session.spawn(_upgrade(session, request.image))
    message = machine_pb2.Upgrade(ack="Upgrade request received", actor_id=str(uuid.uuid4()))
    return machine_pb2.UpgradeResponse(messages=[message])


async def lifecycle_upgrade(call: Call) -> AsyncIterator[lifecycle_pb2.LifecycleServiceUpgradeResponse]:
    """Write the new version to the disk and say so; nothing runs it before a reboot."""
    session, image = call.session, call.request.source.image_name
    if not session.machine.disk.installed:
        raise GRPCError(Status.FAILED_PRECONDITION, "machine is not installed")
    if not image:
        raise GRPCError(Status.INVALID_ARGUMENT, "installer image name is required")
    if image not in session.machine.images:
        raise GRPCError(Status.INTERNAL, f"upgrade failed: image {image!r} was not pulled")
    _check_image(session, image)
    yield _progress(message=f"running the installer of {image}")
    await session.machine.world.clock.sleep(durations.UPGRADE)
    if session.machine.fault("full-disk"):
        yield _progress(message="no space left on device")
        yield _progress(exit_code=1)
        return
    session.machine.write_next(image)
    yield _progress(message="installation complete")
    yield _progress(exit_code=0)


async def pull(call: Call) -> AsyncIterator[image_pb2.ImageServicePullResponse]:
    """Remember the image as pulled; a reference without a name is refused."""
    image = call.request.image_ref
    if not image or ":" not in image.rpartition("/")[2]:
        raise GRPCError(Status.INVALID_ARGUMENT, f"failed to parse image reference {image!r}")
    await call.session.machine.world.clock.sleep(durations.RETRY)
    call.session.machine.images.add(image)
    yield image_pb2.ImageServicePullResponse(name=image)


async def images(call: Call) -> AsyncIterator[image_pb2.ImageServiceListResponse]:
    """The pulled images."""
    for image in sorted(call.session.machine.images):
        yield image_pb2.ImageServiceListResponse(name=image)


async def _upgrade(session: "Session", image: str) -> None:
    session.stage = "upgrading"
    await session.machine.world.clock.sleep(durations.UPGRADE)
    if session.machine.fault("full-disk"):
        session.stage = "running"
        return session.machine.record("upgrade-failed", why="no space left on device")
    session.machine.write_next(image)
    return session.end(REBOOT)


def _check_image(session: "Session", image: str) -> None:
    version = image_version(image, "")
    if not version:
        raise GRPCError(Status.UNKNOWN, f"error validating installer image {image!r}: it names no version")
    now, then = _minor(session.machine.version), _minor(version)
    if then - now > _STEP:
        why = f"upgrading from Talos {session.machine.version} to {version} skips a version that has to come between"
        raise GRPCError(Status.UNKNOWN, f"error validating installer image {image!r}: {why}")


async def _check_etcd(session: "Session") -> None:
    assert session.etcd  # noqa: S101 - the caller looked
    try:
        members = await session.etcd.cluster().members()
    except EtcdError as error:
        raise GRPCError(Status.UNKNOWN, f"error validating etcd for upgrade: {error}") from error
    if len(members) == 2:
        why = "etcd member count(2) is insufficient to maintain quorum if upgrade commences"
        raise GRPCError(Status.UNKNOWN, f"error validating etcd for upgrade: {why}")
    peers = session.machine.world.control_planes(session.settings)
    healthy = {peer.member for peer in peers if peer.session and peer.session.etcd and peer.session.etcd.healthy}
    for member in members:
        if member.id not in healthy:
            why = f"etcd member {member.id:016x} is not healthy; all members must be healthy to perform an upgrade"
            raise GRPCError(Status.UNKNOWN, f"error validating etcd for upgrade: {why}")


def _minor(version: str) -> int:
    parts = version.lstrip("v").split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 0


def _progress(*, message: str = "", exit_code: int | None = None) -> lifecycle_pb2.LifecycleServiceUpgradeResponse:
    progress = lifecycle_pb2.LifecycleServiceInstallProgress()
    if exit_code is None:
        progress.message = message
    else:
        progress.exit_code = exit_code
    return lifecycle_pb2.LifecycleServiceUpgradeResponse(progress=progress)


UPGRADE: Mapping[str, Implementation] = {
    "/machine.MachineService/Upgrade": upgrade,
    "/machine.LifecycleService/Upgrade": lifecycle_upgrade,
    "/machine.ImageService/Pull": pull,
    "/machine.ImageService/List": images,
}
