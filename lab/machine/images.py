"""Pulling container images, by the older call and by the newer service."""

import hashlib
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from grpclib import GRPCError, Status

from lab.machine import durations
from lab.machine.dispatch import Call, Implementation
from talosapi.gen import common_pb2, image_pb2, machine_pb2

if TYPE_CHECKING:
    from lab.machine.session import Session

_SIZE = 100_000_000  # bytes of an image's only layer


async def fetch(session: "Session", image: str) -> None:
    """Pull an image without keeping it; raises GRPCError NotFound when there is none of that name."""
    await session.machine.world.clock.sleep(durations.PULL)
    if why := session.machine.missing(image):
        raise GRPCError(Status.NOT_FOUND, f"failed to resolve reference: {why}")


async def image_pull(call: Call) -> machine_pb2.ImagePullResponse:
    """Keep an image in a namespace."""
    request = call.request
    _parse(request.reference)
    await fetch(call.session, request.reference)
    _keep(call.session, request.namespace, request.reference)
    return machine_pb2.ImagePullResponse(messages=[machine_pb2.ImagePull()])


async def pull(call: Call) -> AsyncIterator[image_pb2.ImageServicePullResponse]:
    """Keep an image in a namespace, say how far it is, and last its name with the digest."""
    image, namespace = call.request.image_ref, call.request.containerd.namespace
    _parse(image)
    if namespace == common_pb2.NS_UNKNOWN:
        raise GRPCError(Status.INVALID_ARGUMENT, "unsupported containerd namespace")
    yield _progress(image, 0)
    await fetch(call.session, image)
    yield _progress(image, _SIZE)
    yield image_pb2.ImageServicePullResponse(name=_keep(call.session, namespace, image))


async def images(call: Call) -> AsyncIterator[image_pb2.ImageServiceListResponse]:
    """The images of a namespace."""
    wanted = call.request.containerd.namespace
    for namespace, image in sorted(call.session.machine.images):
        if namespace == wanted:
            yield image_pb2.ImageServiceListResponse(name=image)


def _parse(image: str) -> None:
    if not image or ":" not in image.rpartition("/")[2]:
        raise GRPCError(Status.INVALID_ARGUMENT, f"failed to parse image reference {image!r}")


def _keep(session: "Session", namespace: int, image: str) -> str:
    digest = hashlib.sha256(image.encode()).hexdigest()
    name, at, _ = image.partition("@")
    pinned = image if at else f"{name.rpartition(':')[0]}@sha256:{digest}"
    session.machine.images |= {(namespace, image), (namespace, pinned)}
    session.machine.record("image-pulled", image=image)
    return pinned


def _progress(image: str, offset: int) -> image_pb2.ImageServicePullResponse:
    statuses = image_pb2.ImageServicePullProgress
    status = statuses.DOWNLOAD_COMPLETE if offset == _SIZE else statuses.DOWNLOADING
    progress = statuses(status=status, offset=offset, total=_SIZE)
    layer = hashlib.sha256(f"layer of {image}".encode()).hexdigest()
    return image_pb2.ImageServicePullResponse(
        pull_progress=image_pb2.ImageServicePullLayer(layer_id=f"sha256:{layer}", progress=progress)
    )


IMAGES: Mapping[str, Implementation] = {
    "/machine.MachineService/ImagePull": image_pull,
    "/machine.ImageService/Pull": pull,
    "/machine.ImageService/List": images,
}
