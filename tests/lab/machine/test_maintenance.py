"""A machine without a configuration: what it answers, and what it refuses."""

import pytest
from grpclib import GRPCError, Status

from lab.machine import Machine
from talosapi.gen.cosi_pb2 import ListRequest
from tests.lab.machine.lab import Lab, Mode, insecure, until

UNKNOWN_KEY = "machine:\n  type: controlplane\n  favouriteColour: blue\n"


async def refused(lab: Lab, machine: Machine, method: str, request: object = None) -> tuple[Status, str]:
    with pytest.raises(GRPCError) as error:
        await lab.call(machine, method, request, tls=insecure())
    return error.value.status, str(error.value.message)


async def test_it_answers_without_a_client_certificate_what_it_is(lab: Lab) -> None:
    machine = await lab.in_maintenance("a", 11, platform="metal", talos_version="v1.13.2")
    version = (await lab.call(machine, "Version", tls=insecure())).messages[0]
    assert version.version.tag == "v1.13.2"
    assert version.platform.name == "metal"
    assert not version.HasField("features")
    assert [disk.device_name for disk in (await lab.call(machine, "Disks", tls=insecure())).messages[0].disks] == [
        "/dev/sda"
    ]


async def test_it_refuses_what_needs_a_configuration_or_a_role(lab: Lab) -> None:
    machine = await lab.in_maintenance("a", 11)
    assert await refused(lab, machine, "Bootstrap") == (Status.PERMISSION_DENIED, "not authorized")
    assert await refused(lab, machine, "Reboot") == (Status.PERMISSION_DENIED, "not authorized")
    assert await refused(lab, machine, "EtcdMemberList") == (
        Status.UNIMPLEMENTED,
        "machine type is not set, cannot use member list API",
    )
    secret = ListRequest(namespace="config", type="MachineConfigs.config.talos.dev")
    with pytest.raises(GRPCError, match="not authorized"):
        await lab.stream(machine, "State/List", secret, tls=insecure())


async def test_it_refuses_an_unknown_key_and_stays_as_it_is(lab: Lab) -> None:
    machine = await lab.in_maintenance("a", 11)
    with pytest.raises(GRPCError, match="favouriteColour") as error:
        await lab.apply(machine, UNKNOWN_KEY)
    assert error.value.status is Status.INVALID_ARGUMENT
    assert lab.events("configuration") == []
    assert machine.describe()["stage"] == "maintenance"


@pytest.mark.parametrize("text", ["", ": :", "- 1", "\t", "machine: 7\n", "a: &a [*a]\n"])
async def test_junk_is_refused_as_an_invalid_argument(lab: Lab, text: str) -> None:
    machine = await lab.in_maintenance("a", 11)
    with pytest.raises(GRPCError) as error:
        await lab.apply(machine, text)
    assert error.value.status is Status.INVALID_ARGUMENT


async def test_a_dry_run_says_what_would_be_and_does_nothing(lab: Lab) -> None:
    machine = await lab.in_maintenance("a", 11)
    answer = await lab.apply(machine, lab.configuration("a"), dry_run=True)
    assert answer.mode == Mode.NO_REBOOT
    assert answer.mode_details.startswith(
        "Dry run summary:\nApplied configuration without a reboot (skipped in dry-run).\nConfig diff:"
    )
    assert "+    type: controlplane" in answer.mode_details
    assert not any(secret in answer.mode_details for secret in (lab.secrets.os.key, lab.secrets.trustd_token))
    assert machine.describe()["stage"] == "maintenance"
    assert lab.events("configuration") == []


async def test_a_configuration_with_another_machines_name_is_a_violation(lab: Lab) -> None:
    machine = await lab.in_maintenance("a", 11)
    await lab.in_maintenance("b", 12)
    await lab.apply(machine, lab.configuration("b"))
    assert [entry["belongs_to"] for entry in lab.journal.violations()] == ["b"]


async def test_what_was_staged_in_memory_is_lost_with_the_power(lab: Lab) -> None:
    machine = await lab.in_maintenance("a", 11)
    await lab.apply(machine, lab.configuration("a"), Mode.STAGED)
    assert machine.describe()["stage"] == "maintenance"
    await machine.power_off()
    await machine.power_on()
    await until(lambda: len(lab.events("maintenance")) == 2, "maintenance again")
    assert lab.events("install") == []


async def test_documents_that_are_not_enough_to_boot_with_leave_it_in_maintenance(lab: Lab) -> None:
    machine = await lab.in_maintenance("a", 11)
    await lab.apply(machine, "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: other\n")
    assert machine.describe()["stage"] == "maintenance"
    assert (await lab.call(machine, "Hostname", tls=insecure())).messages[0].hostname == "other"
    await lab.apply(machine, lab.configuration("a"))
    await until(lambda: lab.events("install"), "the installation")
