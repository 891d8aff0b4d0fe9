"""What a machine lets an operator do whose identity has one role and a short life."""

from datetime import UTC, datetime, timedelta

import pytest

from lab.machine import Machine
from machinery.identity import identity
from talosapi import Client, Credentials, TalosError
from talosapi.errors import Code
from tests.lab.machine.lab import Lab
from tests.lab.machine.test_life import up


def client(lab: Lab, machine: Machine, role: str, now: datetime | None = None) -> Client:
    pair = identity(lab.secrets.os, role, timedelta(hours=8), now).pair
    credentials = Credentials(*(pem.encode() for pem in (lab.secrets.os.crt, pair.crt, pair.key)))
    return Client(machine.hardware.address, credentials)


async def test_a_reader_may_ask_and_not_reboot(lab: Lab) -> None:
    async with client(lab, await up(lab, "a", 11), "os:reader") as reader:
        assert (await reader.version()).tag.startswith("v1.")
        with pytest.raises(TalosError) as refused:
            await reader.reboot()
        assert refused.value.code is Code.PERMISSION_DENIED


async def test_an_operator_may_reboot_and_not_read_files(lab: Lab) -> None:
    async with client(lab, await up(lab, "a", 11), "os:operator") as operator:
        with pytest.raises(TalosError) as refused:
            await operator.read("/etc/os-release")
        assert refused.value.code is Code.PERMISSION_DENIED
        assert await operator.reboot()


async def test_an_identity_that_has_ended_is_refused(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    async with client(lab, machine, "os:admin", datetime.now(UTC) - timedelta(hours=9)) as ended:
        with pytest.raises(TalosError) as refused:
            await ended.version()
    assert refused.value.code in {Code.UNAVAILABLE, Code.UNAUTHENTICATED}
    async with client(lab, machine, "os:admin") as valid:
        assert await valid.version()
