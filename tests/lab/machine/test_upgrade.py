"""Upgrades: the version that runs changes with a reboot, and only then."""

import pytest
from grpclib import GRPCError, Status

from lab.machine.hardware import image_schematic, image_version
from talosapi.gen.image_pb2 import ImageServicePullRequest
from talosapi.gen.lifecycle_pb2 import LifecycleServiceUpgradeRequest
from talosapi.gen.machine_pb2 import UpgradeRequest
from tests.lab.machine.lab import Lab, until
from tests.lab.machine.test_life import up

SCHEMATIC = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
NEXT = f"factory.talos.dev/metal-installer/{SCHEMATIC}:v1.14.1"


def test_an_installer_image_names_its_version_and_schematic() -> None:
    assert image_version(NEXT, "") == "v1.14.1"
    assert image_schematic(NEXT) == SCHEMATIC
    assert image_version("host:5000/installer@sha256:abc", "v1.13.9") == "v1.13.9"
    assert image_schematic("ghcr.io/siderolabs/installer:v1.13.0") == ""


@pytest.mark.parametrize("stage", [False, True])
async def test_an_upgrade_reboots_into_the_version_of_the_image(lab: Lab, stage: bool) -> None:
    machine = await up(lab, "a", 11, "worker")
    await up(lab, "b", 12)
    await until(lambda: lab.answers(machine), "the worker's API")
    helper = lab.named("b")
    metadata = [("node", machine.hardware.address)]
    answer = await lab.call(
        helper, "MachineService/Upgrade", UpgradeRequest(image=NEXT, stage=stage), metadata=metadata
    )
    assert answer.messages[0].ack == "Upgrade request received"
    await until(lambda: machine.version == "v1.14.1" and machine.session and machine.session.cri, "the new version")
    assert machine.describe()["schematic"] == SCHEMATIC
    assert machine.disk.configuration


async def test_the_newer_call_needs_the_image_and_leaves_the_reboot_to_its_caller(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    request = LifecycleServiceUpgradeRequest()
    request.source.image_name = NEXT
    with pytest.raises(GRPCError, match="was not pulled"):
        await lab.stream(machine, "LifecycleService/Upgrade", request)
    pulled = await lab.stream(machine, "Pull", ImageServicePullRequest(image_ref=NEXT))
    assert pulled[-1].name == NEXT
    steps = await lab.stream(machine, "LifecycleService/Upgrade", request)
    assert steps[-1].progress.exit_code == 0 and steps[-1].progress.WhichOneof("response") == "exit_code"
    assert machine.version == "v1.13.0"
    await lab.call(machine, "Reboot")
    await until(lambda: machine.version == "v1.14.1" and machine.session and machine.session.cri, "the new version")
    await until(lambda: lab.answers(machine), "its API")
    await lab.call(machine, "Rollback")
    await until(lambda: machine.version == "v1.13.0" and machine.session and machine.session.cri, "the old version")


async def test_an_upgrade_that_skips_a_version_or_names_none_is_refused(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    for image, why in (("x/installer:v1.17.0", "skips a version"), ("x/installer", "names no version")):
        with pytest.raises(GRPCError, match=why):
            await lab.call(machine, "MachineService/Upgrade", UpgradeRequest(image=image, force=True))
    fresh = await lab.in_maintenance("b", 12)
    with pytest.raises(GRPCError) as error:
        await lab.call(machine, "MachineService/Upgrade", UpgradeRequest(image=NEXT))
    assert error.value.status is Status.UNKNOWN  # etcd does not run
    assert fresh.version == "v1.13.9"
