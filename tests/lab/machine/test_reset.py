"""Resets: which partitions are wiped, and what is left of the machine."""

import pytest
from grpclib import GRPCError

from talosapi.gen.common_pb2 import Data
from talosapi.gen.machine_pb2 import ResetRequest
from tests.lab.machine.lab import Lab, until
from tests.lab.machine.test_apply import of_version
from tests.lab.machine.test_life import up


def labels(*names: str) -> ResetRequest:
    """A reset of single partitions, not graceful."""
    request = ResetRequest(reboot=True)
    for name in names:
        request.system_partitions_to_wipe.add(label=name, wipe=True)
    return request


@pytest.mark.parametrize(
    ("version", "names", "why"),
    [
        ("v1.13.9", ("HOME",), "not found"),
        ("v1.13.9", ("EPHEMERAL", "ETCD"), "not found"),
        ("v1.14.1", ("ETCD",), "is a directory on EPHEMERAL"),
        ("v1.14.1", ("EPHEMERAL", "ETCD"), ""),
        ("v1.13.9", ("STATE", "EPHEMERAL"), ""),
    ],
)
async def test_a_release_wipes_the_partitions_that_it_has(
    lab: Lab, version: str, names: tuple[str, ...], why: str
) -> None:
    machine = await of_version(lab, version)
    if why:
        with pytest.raises(GRPCError, match=why):
            await lab.call(machine, "Reset", labels(*names))
        return
    boots = len(lab.events("boot"))
    await lab.call(machine, "Reset", labels(*names))
    await until(lambda: len(lab.events("boot")) > boots and machine.session, "it comes back")
    assert machine.disk.installed and machine.version == version
    assert (machine.disk.configuration is None) == ("STATE" in names)


async def test_wiping_ephemeral_loses_what_was_uploaded_and_a_machine_without_reboot_is_off(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    await lab.call(machine, "EtcdRecover", Data(bytes=b"snapshot"))
    assert machine.snapshot.read_bytes() == b"snapshot"
    request = labels("EPHEMERAL")
    request.reboot = False
    await lab.call(machine, "Reset", request)
    await until(lambda: machine.describe()["stage"] == "off", "off")
    assert not machine.snapshot.exists() and machine.disk.configuration


async def test_a_reset_that_wipes_other_disks_leaves_the_system(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    request = ResetRequest(reboot=True, mode=ResetRequest.USER_DISKS, user_disks_to_wipe=["/dev/sdb"])
    boots = len(lab.events("boot"))
    await lab.call(machine, "Reset", request)
    await until(lambda: len(lab.events("boot")) > boots and machine.session and machine.session.cri, "it runs again")
    assert lab.events("wiped") == []
    request.mode = ResetRequest.SYSTEM_DISK
    await until(lambda: lab.answers(machine), "its API")
    with pytest.raises(GRPCError, match="SYSTEM_DISK doesn't support"):
        await lab.call(machine, "Reset", request)
