"""Upgrades: the version that runs changes with a reboot, and only then."""

import asyncio
from typing import Any

import pytest
from grpclib import GRPCError, Status

from lab.machine import Machine
from lab.machine.releases import may_follow
from lab.machine.system_disk import SystemDisk, image_schematic, image_version
from lab.registry import Registry
from lab.schematic import canonical
from talosapi.gen.common_pb2 import CRI, NS_CRI, NS_SYSTEM
from talosapi.gen.cosi_pb2 import GetRequest, ListRequest
from talosapi.gen.image_pb2 import ImageServicePullRequest
from talosapi.gen.lifecycle_pb2 import LifecycleServiceUpgradeRequest
from talosapi.gen.machine_pb2 import ReadRequest, ResetRequest, SequenceEvent, UpgradeRequest
from talosapi.gen.resources_pb2 import MACHINE_STAGE_RUNNING, MachineStatusSpec
from tests.lab.machine.lab import Lab, until
from tests.lab.machine.test_life import up

SCHEMATIC = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
NEXT = f"factory.talos.dev/metal-installer/{SCHEMATIC}:v1.14.1"


async def ready(lab: Lab, machine: Machine, version: str) -> None:
    """The machine runs this version and its API answers."""
    await until(lambda: machine.version == version and machine.session and machine.session.cri, f"{version} runs")
    await until(lambda: lab.answers(machine), "its API")


async def pull(lab: Lab, machine: Machine, image: str, namespace: Any = NS_SYSTEM) -> str:
    """Pull an image and return the name it has then."""
    request = ImageServicePullRequest(image_ref=image)
    request.containerd.driver, request.containerd.namespace = CRI, namespace
    said = await lab.stream(machine, "ImageService/Pull", request)
    assert [step.WhichOneof("response") for step in said[:-1]] == ["pull_progress"] * (len(said) - 1)
    return str(said[-1].name)


def request_of(image: str) -> LifecycleServiceUpgradeRequest:
    """The call that installs an image which was pulled before."""
    request = LifecycleServiceUpgradeRequest()
    request.containerd.driver, request.containerd.namespace = CRI, NS_SYSTEM
    request.source.image_name = image
    return request


async def install(lab: Lab, machine: Machine, image: str) -> tuple[int, str]:
    """Pull and install an image; return the exit code and what was said."""
    await pull(lab, machine, image)
    said = [step.progress for step in await lab.stream(machine, "LifecycleService/Upgrade", request_of(image))]
    assert said[-1].WhichOneof("response") == "exit_code"
    return said[-1].exit_code, "\n".join(step.message for step in said[:-1])


async def boot_id(lab: Lab, machine: Machine) -> bytes:
    """What differs after every boot."""
    (answer,) = await lab.stream(machine, "Read", ReadRequest(path="/proc/sys/kernel/random/boot_id"))
    return bytes(answer.bytes)


async def resource(lab: Lab, machine: Machine, kind: str, name: str) -> Any:
    """A resource of the runtime."""
    return (await lab.call(machine, "State/Get", GetRequest(namespace="runtime", type=kind, id=name))).resource


def test_an_installer_image_names_its_version_and_schematic() -> None:
    assert image_version(NEXT, "") == "v1.14.1"
    assert image_schematic(NEXT) == SCHEMATIC
    assert image_version("host:5000/installer@sha256:abc", "v1.13.9") == "v1.13.9"
    assert image_schematic("ghcr.io/siderolabs/installer:v1.13.0") == ""


@pytest.mark.parametrize(
    ("image", "there"),
    [
        (NEXT, True),
        (f"factory.talos.dev/metal-installer-secureboot/{SCHEMATIC}:v1.13.0", True),
        (f"factory.talos.dev/installer/{SCHEMATIC}:v1.13.0", True),
        (f"mirror.internal:5000/factory/nocloud-installer/{SCHEMATIC}:v1.13.0", True),
        (f"factory.talos.dev/metal-installer/{SCHEMATIC}:v1.99.0", False),
        (f"factory.talos.dev/metal-installer/{'0' * 64}:v1.13.0", False),
        (f"factory.talos.dev/abacus-installer/{SCHEMATIC}:v1.13.0", False),
        (f"factory.talos.dev/metal-installer/{SCHEMATIC}", False),
        ("ghcr.io/siderolabs/installer:v1.13.9", True),
        ("ghcr.io/siderolabs/installer:v1.14.0", False),
        ("registry.internal/kube-apiserver:v1.36.2", True),
    ],
)
def test_only_installers_that_were_made_can_be_pulled(image: str, there: bool) -> None:
    assert Registry().missing(image) == ("" if there else f"{image}: not found")


def test_every_schematic_is_there_where_no_factory_knows_better() -> None:
    image = f"factory.internal/metal-installer/{'0' * 64}:v1.13.0"
    assert Registry(complete=False).missing(image) == ""


@pytest.mark.parametrize(
    ("host", "target", "may"),
    [
        ("v1.12.0", "v1.14.1", True),
        ("v1.11.9", "v1.14.0", False),
        ("v1.14.1", "v1.13.9", True),
        ("v1.14.1", "v1.12.9", False),
        ("v1.13.9", "v1.13.2", True),
        ("v1.15.0-alpha.1", "v1.14.0", True),
    ],
)
def test_an_installer_takes_over_from_two_minor_versions_before_and_one_after(
    host: str, target: str, may: bool
) -> None:
    assert may_follow(host, target) is may


def test_a_second_installation_before_a_boot_deletes_the_entry_that_runs() -> None:
    disk = SystemDisk()
    first = disk.write("a", "v1.13.0", "")
    second = disk.write("b", "v1.13.0", "")
    assert (disk.default, disk.fallback, second.label) == (second, first, "Talos-v1.13.0~1")
    disk.write("c", "v1.14.0", "")
    assert disk.fallback == second and first not in (disk.default, disk.fallback)


@pytest.mark.parametrize(("stage", "boots"), [(False, 1), (True, 2)])
async def test_the_old_call_reboots_into_the_version_of_the_image(lab: Lab, stage: bool, boots: int) -> None:
    machine = await up(lab, "a", 11, "worker")
    await up(lab, "b", 12)
    await until(lambda: lab.answers(machine), "the worker's API")
    helper, before = lab.named("b"), len(lab.events("boot", "a"))
    metadata = [("node", machine.hardware.address)]
    answer = await lab.call(
        helper, "MachineService/Upgrade", UpgradeRequest(image=NEXT, stage=stage), metadata=metadata
    )
    assert answer.messages[0].ack == "Upgrade request received" and answer.messages[0].actor_id
    await ready(lab, machine, "v1.14.1")
    assert len(lab.events("boot", "a")) == before + boots
    assert machine.describe()["schematic"] == SCHEMATIC
    assert machine.disk.configuration


async def test_the_newer_call_needs_the_very_image_and_leaves_the_reboot_to_its_caller(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    for image, namespace in (("", None), (NEXT, NS_CRI)):
        if image:
            await pull(lab, machine, image, namespace)
        with pytest.raises(GRPCError, match="not found") as error:
            await lab.stream(machine, "LifecycleService/Upgrade", request_of(NEXT))
        assert error.value.status is Status.INTERNAL
    before = await boot_id(lab, machine)
    assert await install(lab, machine, NEXT) == (
        0,
        "running Talos installer v1.14.1\ninstallation of v1.14.1 complete",
    )
    assert machine.version == "v1.13.0" and await boot_id(lab, machine) == before
    await lab.call(machine, "Reboot")
    await ready(lab, machine, "v1.14.1")
    assert await boot_id(lab, machine) != before
    await lab.call(machine, "Rollback")
    await ready(lab, machine, "v1.13.0")


async def test_the_name_with_the_digest_that_a_pull_answers_can_be_installed_too(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    pinned = await pull(lab, machine, NEXT)
    assert pinned.startswith(f"{NEXT.removesuffix(':v1.14.1')}@sha256:")
    assert (await lab.stream(machine, "LifecycleService/Upgrade", request_of(pinned)))[-1].progress.exit_code == 0


async def test_an_image_that_is_not_there_is_not_found_by_either_call(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    gone = NEXT.replace(SCHEMATIC, "f" * 64)
    with pytest.raises(GRPCError, match="not found") as error:
        await pull(lab, machine, gone)
    assert error.value.status is Status.NOT_FOUND
    lab.faults.set("a", "image-missing")
    with pytest.raises(GRPCError, match=r"error validating installer image .*not found"):
        await lab.call(machine, "MachineService/Upgrade", UpgradeRequest(image=NEXT, force=True))
    assert machine.session and machine.session.sequences.running != "upgrade"


async def test_before_1_13_there_is_only_the_old_call(lab: Lab) -> None:
    machine = await up(lab, "a", 11, platform="nocloud", talos_version="v1.12.4")
    for method, request in (("Pull", ImageServicePullRequest(image_ref=NEXT)), ("Upgrade", request_of(NEXT))):
        service = "ImageService" if method == "Pull" else "LifecycleService"
        with pytest.raises(GRPCError, match=f"unknown service machine.{service}") as error:
            await lab.stream(machine, f"{service}/{method}", request)
        assert error.value.status is Status.UNIMPLEMENTED


@pytest.mark.parametrize(("host", "target", "code"), [("v1.13.0", "v1.10.0", 1), ("v1.16.0", "v1.14.0", 4)])
async def test_an_installer_that_cannot_follow_says_so_and_changes_nothing(
    lab: Lab, host: str, target: str, code: int
) -> None:
    machine = await up(lab, "a", 11, platform="nocloud", talos_version=host)
    image = NEXT.replace("v1.14.1", target)
    exit_code, said = await install(lab, machine, image)
    assert exit_code == code and f"host version {host} is too far from {target}" in said
    assert machine.disk.fallback is None
    assert (await lab.call(machine, "MachineService/Upgrade", UpgradeRequest(image=image, force=True))).messages
    await until(lambda: lab.events("fatal"), "the old call finds out when it has answered")
    assert lab.events("fatal")[0]["why"] == f"the installer ended with exit code {code}"
    await ready(lab, machine, host)


async def test_an_installer_that_fails_says_so_in_a_message_and_the_stream_ends_well(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    for fault, arguments, code in (("full-disk", {}, 6), ("installer-fails", {"exit": 3}, 3)):
        lab.faults.set("a", fault, **arguments)
        assert (await install(lab, machine, NEXT))[0] == code
        lab.faults.clear("a")
    assert machine.disk.fallback is None and lab.events("installed")[-1]["version"] == "v1.13.0"


async def test_one_installation_at_a_time_and_it_outlives_its_caller(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    await pull(lab, machine, NEXT)
    with lab.clock.held():
        calling = asyncio.ensure_future(lab.stream(machine, "LifecycleService/Upgrade", request_of(NEXT)))
        await until(lambda: machine.session and machine.session.upgrading.locked(), "it installs")
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        with pytest.raises(GRPCError, match="already in progress") as error:
            await lab.stream(machine, "LifecycleService/Upgrade", request_of(NEXT))
        assert error.value.status is Status.FAILED_PRECONDITION
    await until(lambda: machine.disk.default and machine.disk.default.version == "v1.14.1", "it is installed")


async def test_what_boots_has_its_schematic_its_entry_and_its_boot_id_among_the_resources(lab: Lab) -> None:
    text = canonical("customization: { systemExtensions: { officialExtensions: [siderolabs/qemu-guest-agent] } }")
    lab.world.registry.schematics[SCHEMATIC] = text
    machine = await up(lab, "a", 11)
    request = ListRequest(namespace="runtime", type="ExtensionStatuses.runtime.talos.dev")
    assert await lab.stream(machine, "State/List", request) == []
    with pytest.raises(GRPCError, match="not supported"):
        await resource(lab, machine, "BootIDs.runtime.talos.dev", "boot-id")
    await install(lab, machine, NEXT)
    await lab.call(machine, "Reboot")
    await ready(lab, machine, "v1.14.1")
    shown = [answer.resource.spec.yaml_spec for answer in await lab.stream(machine, "State/List", request)]
    assert '"name": "qemu-guest-agent"' in shown[0]
    assert f'"version": "{SCHEMATIC}"' in shown[1] and "officialExtensions" in shown[1]
    entry = await resource(lab, machine, "BootedEntries.talos.dev", "bootedentry")
    assert "Talos-v1.14.1.efi" in entry.spec.yaml_spec
    booted = await resource(lab, machine, "BootIDs.runtime.talos.dev", "boot-id")
    assert (await boot_id(lab, machine)).decode().strip() in booted.spec.yaml_spec


async def test_a_version_that_does_not_boot_gives_way_to_the_one_before(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    lab.faults.set("a", "rolls-back")
    await install(lab, machine, NEXT)
    boots = len(lab.events("boot"))
    await lab.call(machine, "Reboot")
    await until(lambda: lab.events("turned-back"), "it turns back")
    await ready(lab, machine, "v1.13.0")
    assert [boot["version"] for boot in lab.events("boot")[boots:]] == ["v1.14.1", "v1.13.0"]
    assert machine.disk.unproven is False


async def test_an_upgrade_and_a_reset_let_nobody_else_in_though_the_call_says_yes(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    lab.faults.set("a", "hangs", stage=8)
    await lab.call(machine, "MachineService/Upgrade", UpgradeRequest(image=NEXT, force=True))
    await until(lambda: machine.session and machine.session.stage == "upgrading", "it upgrades")
    assert machine.session
    for method, request in (("Reboot", None), ("Reset", ResetRequest(reboot=True))):
        answer = await lab.call(machine, method, request)
        event = machine.session.sequences.events[-1]
        assert event.actor_id == answer.messages[0].actor_id
        told = SequenceEvent.FromString(event.data.value)
        assert (told.sequence, told.action, told.error.code) == (method.lower(), SequenceEvent.NOOP, 1)
    status = await resource(lab, machine, "MachineStatuses.runtime.talos.dev", "machine")
    assert MachineStatusSpec.FromString(status.spec.proto_spec).status.ready  # nothing is looked at in this stage
    lab.faults.clear("a", "hangs")
    await ready(lab, machine, "v1.14.1")


async def test_a_worker_is_not_ready_before_its_node_is_there(lab: Lab) -> None:
    await up(lab, "b", 12)
    machine = await up(lab, "a", 11, "worker")
    await until(lambda: lab.answers(machine), "the worker's API")
    await until(lambda: machine.session and machine.session.stage == "running", "it runs")
    status = await resource(lab, machine, "MachineStatuses.runtime.talos.dev", "machine")
    spec = MachineStatusSpec.FromString(status.spec.proto_spec)
    assert spec.stage == MACHINE_STAGE_RUNNING and not spec.status.ready
    assert [unmet.name for unmet in spec.status.unmet_conditions] == ["nodeReady"]
