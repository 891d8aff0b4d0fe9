"""The life of a machine: installation, reboots, power, and who may talk to it then."""

import ssl

import pytest
from grpclib import GRPCError, Status

from lab.machine import Hardware, HardwareError, Machine
from machinery import generate_secrets
from talosapi.gen.machine_pb2 import ResetRequest
from tests.lab.machine.lab import Lab, insecure, until


async def up(lab: Lab, name: str, octet: int, role: str = "controlplane", **hardware: object) -> Machine:
    """A machine that runs with a configuration."""
    machine = await lab.in_maintenance(name, octet, **hardware)
    await lab.apply(machine, lab.configuration(name, role))
    await until(lambda: machine.session and machine.session.cri, f"{name} runs")
    if role == "controlplane":
        await until(lambda: lab.answers(machine), f"the API of {name}")
    return machine


def happened(lab: Lab, machine: str) -> list[str]:
    quiet = ("call", "registered", "etcd-bootstrap")
    return [
        entry["event"] for entry in lab.journal.entries if entry["machine"] == machine and entry["event"] not in quiet
    ]


async def test_a_machine_installs_reboots_and_comes_back_with_mutual_tls(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    assert happened(lab, "a") == [
        *("power-on", "boot", "maintenance", "configuration", "install", "installed", "reboot", "boot", "running"),
    ]
    version = (await lab.call(machine, "Version")).messages[0]
    assert version.features.rbac
    assert (await lab.call(machine, "Hostname")).messages[0].hostname == "a"
    with pytest.raises((ssl.SSLError, OSError, GRPCError, Exception)):
        await lab.call(machine, "Version", tls=insecure())


async def test_a_client_of_another_cluster_is_not_let_in(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    mine, lab.secrets = lab.secrets, generate_secrets("v1.13")
    stranger = lab.admin()
    lab.secrets = mine
    with pytest.raises(ssl.SSLCertVerificationError):
        await lab.call(machine, "Version", tls=stranger)


async def test_a_disk_made_from_an_image_needs_no_installation(lab: Lab) -> None:
    await up(lab, "a", 11, platform="nocloud")
    assert happened(lab, "a") == ["power-on", "boot", "maintenance", "configuration", "running"]


async def test_a_worker_answers_only_when_a_control_plane_signs_for_it(lab: Lab) -> None:
    worker = await up(lab, "w", 21, "worker")
    with pytest.raises(OSError):
        await lab.call(worker, "Version")
    await up(lab, "a", 11)
    await until(lambda: lab.answers(worker), "the worker's API")
    with pytest.raises(GRPCError, match="bootstrap is only available on control plane nodes") as error:
        await lab.call(worker, "Bootstrap")
    assert error.value.status is Status.UNIMPLEMENTED


async def test_the_configuration_survives_the_power_and_memory_does_not(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    session = machine.session
    await machine.power_off()
    assert machine.session is None and machine.describe()["stage"] == "off"
    await machine.power_on()
    await until(lambda: machine.session and machine.session.cri, "it runs again")
    assert machine.session is not session
    assert len(lab.events("maintenance")) == 1


async def test_a_power_cut_in_the_middle_of_a_reboot_leaves_nothing_behind(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    session = machine.session
    await lab.call(machine, "Reboot")
    await until(lambda: session and session.stage == "rebooting", "it shuts down")
    await machine.power_off()
    with pytest.raises(OSError):
        await lab.call(machine, "Version")
    await machine.power_on()
    await until(lambda: machine.session not in (None, session) and machine.session.cri, "it runs again")
    await until(lambda: lab.answers(machine), "its API")


async def test_a_machine_that_boots_from_its_media_is_in_maintenance_after_a_reset(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    await lab.call(machine, "Reset", ResetRequest(graceful=True, reboot=True))
    await until(lambda: len(lab.events("maintenance")) == 2, "maintenance after the reset")
    assert machine.disk.configuration is None


async def test_a_machine_made_from_an_image_has_nothing_to_boot_after_a_reset(lab: Lab) -> None:
    machine = await up(lab, "a", 11, platform="nocloud")
    await lab.call(machine, "Reset", ResetRequest(graceful=False, reboot=True))
    await until(lambda: lab.events("nothing-to-boot"), "nothing to boot")
    assert machine.describe()["stage"] == "nothing to boot from"


async def test_wiping_the_state_partition_forgets_the_configuration_alone(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    request = ResetRequest(reboot=True)
    request.system_partitions_to_wipe.add(label="STATE", wipe=True)
    await lab.call(machine, "Reset", request)
    await until(lambda: len(lab.events("maintenance")) == 2, "maintenance after the reset")
    assert machine.disk.installed


async def test_a_shut_down_machine_stays_off_until_somebody_gives_it_power(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    await lab.call(machine, "Shutdown")
    await until(lambda: machine.describe()["stage"] == "off", "off")
    await machine.power_on()
    await until(lambda: machine.session and machine.session.cri, "it runs again")


async def test_a_shared_address_without_an_own_one_makes_a_machine_unreachable(lab: Lab) -> None:
    machine = await lab.in_maintenance("a", 11)
    patch = "machine:\n  network:\n    interfaces:\n    - interface: eth0\n      vip:\n        ip: 127.9.9.9\n"
    await lab.apply(machine, lab.configuration("a", "controlplane", patch))
    await until(lambda: lab.events("address-lost"), "the address is lost")
    with pytest.raises(OSError):
        await lab.call(machine, "Version")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"uuid": "u", "name": "a"}, "hardware needs address"),
        ({"uuid": "u", "name": "a", "address": "10.0.0.1", "colour": "red"}, "hardware does not have colour"),
        ({"uuid": "u", "name": "a", "address": "x", "platform": "abacus"}, "platform 'abacus' is not simulated"),
        ({"uuid": "u", "name": "a", "address": "10.0.0.300"}, "'10.0.0.300' is no IP address"),
        ({"uuid": "u", "name": "a", "address": "::1", "disks": [{"bytes": 1}]}, "a disk does not have bytes"),
        ({"uuid": "u", "name": "a", "address": "::1", "disks": ["sda"]}, "a disk is a mapping, not str"),
    ],
)
def test_hardware_that_makes_no_machine_is_refused(raw: dict[str, object], message: str) -> None:
    with pytest.raises(HardwareError, match=message):
        Hardware.read(raw)


async def test_two_machines_cannot_have_one_address(lab: Lab) -> None:
    await lab.machine("a", 11)
    with pytest.raises(ValueError, match="already belongs to machine a"):
        await lab.machine("b", 11)
