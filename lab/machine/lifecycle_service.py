"""LifecycleService: installing a version beside the one that runs, and leaving the reboot to its caller."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from grpclib import GRPCError, Status

from lab.machine import installer
from lab.machine.dispatch import Call, Implementation
from talosapi.gen import lifecycle_pb2

if TYPE_CHECKING:
    from lab.machine.session import Session

Progress = lifecycle_pb2.LifecycleServiceInstallProgress


async def upgrade(call: Call) -> AsyncIterator[lifecycle_pb2.LifecycleServiceUpgradeResponse]:
    """Run the installer of an image that was pulled before; its exit code comes last, and the stream ends well.

    It runs to its end when the caller goes away, and nothing else installs meanwhile. Nobody looks at etcd.
    """
    session, image = call.session, call.request.source.image_name
    if session.upgrading.locked():
        raise GRPCError(Status.FAILED_PRECONDITION, "another installation/upgrade is already in progress")
    if not session.machine.disk.installed:
        raise GRPCError(Status.FAILED_PRECONDITION, "machine is not installed")
    if not image:
        raise GRPCError(Status.INVALID_ARGUMENT, "installer image name is required")
    if (call.request.containerd.namespace, image) not in session.machine.images:
        raise GRPCError(Status.INTERNAL, f"image {image!r}: not found")
    said: asyncio.Queue[Progress] = asyncio.Queue()
    session.spawn(_install(session, image, said))
    while True:
        progress = await said.get()
        yield lifecycle_pb2.LifecycleServiceUpgradeResponse(progress=progress)
        if progress.WhichOneof("response") == "exit_code":
            return


async def _install(session: "Session", image: str, said: "asyncio.Queue[Progress]") -> None:
    async with session.upgrading:
        code = await installer.run(session, image, lambda line: said.put_nowait(Progress(message=line)))
        said.put_nowait(Progress(exit_code=code))


LIFECYCLE_SERVICE: Mapping[str, Implementation] = {"/machine.LifecycleService/Upgrade": upgrade}
