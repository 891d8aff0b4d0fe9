"""Day two of etcd: members that leave and come back, alarms, defragmentation, and a restore from a snapshot."""

import pytest
from grpclib import GRPCError, Status

from lab.machine.gateway import EtcdError
from talosapi.gen.common_pb2 import Data
from talosapi.gen.machine_pb2 import (
    BootstrapRequest,
    EtcdRemoveMemberByIDRequest,
    ReadRequest,
    ResetRequest,
    UpgradeRequest,
)
from tests.lab.machine.lab import Lab, until
from tests.lab.machine.test_cluster import CONTROL_PLANES, healthy_again, members
from tests.lab.machine.test_reset import labels

pytestmark = [pytest.mark.asyncio(loop_scope="module")]


async def test_a_member_can_be_defragmented_and_has_no_alarms(cluster: Lab) -> None:
    machine = cluster.named("cp1")
    assert (await cluster.call(machine, "EtcdDefragment")).messages
    assert not (await cluster.call(machine, "EtcdAlarmList")).messages[0].member_alarms
    assert not (await cluster.call(machine, "EtcdAlarmDisarm")).messages[0].member_alarms
    with pytest.raises(GRPCError, match="only available on control plane nodes") as error:
        await cluster.call(cluster.named("w1"), "EtcdDefragment")
    assert error.value.status is Status.UNIMPLEMENTED


async def test_a_member_that_left_stays_away_until_it_boots_and_then_joins_again(cluster: Lab) -> None:
    machine = cluster.named("cp3")
    await cluster.call(machine, "EtcdLeaveCluster")
    assert sorted(await members(cluster)) == ["cp1", "cp2"]
    assert machine.session and machine.session.etcd
    assert (machine.session.etcd.state, machine.session.etcd.process.has_data) == ("Finished", False)
    boots = len(cluster.events("boot", "cp3"))
    await cluster.call(machine, "Reboot")
    await healthy_again(cluster, machine, boots)
    await until(lambda: len(cluster.events("etcd-voting", "cp3")) == 2, "it votes")
    assert sorted(await members(cluster)) == CONTROL_PLANES
    assert cluster.journal.violations() == []


async def test_data_that_is_lost_is_a_member_that_joins_anew(cluster: Lab) -> None:
    machine, votes = cluster.named("cp2"), len(cluster.events("etcd-voting", "cp2"))
    before = (await members(cluster))["cp2"].id
    cluster.faults.set("cp2", "etcd-lost")
    boots = len(cluster.events("boot", "cp2"))
    await cluster.call(machine, "Reboot")
    await until(lambda: len(cluster.events("boot", "cp2")) > boots, "it boots")
    cluster.faults.clear("cp2")
    await until(lambda: len(cluster.events("etcd-voting", "cp2")) > votes, "it votes again")
    await healthy_again(cluster, machine, boots)
    assert (await members(cluster))["cp2"].id != before


async def test_with_one_member_down_a_healthy_one_cannot_be_removed_and_the_dead_one_can(cluster: Lab) -> None:
    found = await members(cluster)
    await cluster.named("cp3").power_off()

    async def remove(name: str) -> None:
        request = EtcdRemoveMemberByIDRequest(member_id=found[name].id)
        await cluster.call(cluster.named("cp1"), "EtcdRemoveMemberByID", request)

    await refuses_to_upgrade(cluster, f"etcd member {found['cp3'].id:016x} is not healthy")
    with pytest.raises(GRPCError, match=r"unhealthy cluster|not enough started members"):
        await remove("cp2")
    await remove("cp3")
    assert sorted(await members(cluster)) == ["cp1", "cp2"]
    await refuses_to_upgrade(cluster, r"etcd member count\(2\) is insufficient to maintain quorum")
    boots = len(cluster.events("boot", "cp3"))
    votes = len(cluster.events("etcd-voting", "cp3"))
    cluster.faults.set("cp3", "etcd-lost")
    await cluster.named("cp3").power_on()
    await until(lambda: len(cluster.events("boot", "cp3")) > boots, "it boots")
    cluster.faults.clear("cp3")
    await until(lambda: len(cluster.events("etcd-voting", "cp3")) > votes, "cp3 votes again")
    await healthy_again(cluster, cluster.named("cp3"), boots)


async def refuses_to_upgrade(cluster: Lab, why: str) -> None:
    """The older upgrade call looks at etcd, and at once again when it was refused: its lock is free then."""
    image = "ghcr.io/siderolabs/installer:v1.13.9"
    for _ in range(2):
        with pytest.raises(GRPCError, match=f"error validating etcd for upgrade: {why}"):
            await cluster.call(cluster.named("cp1"), "MachineService/Upgrade", UpgradeRequest(image=image))
    assert cluster.events("installed", "cp1")[-1]["beside"] == ""


async def test_one_machine_at_a_time_is_looked_at_and_preserving_looks_at_none(cluster: Lab) -> None:
    await until(lambda: all_healthy(cluster), "all members are healthy")
    machine, other = cluster.named("cp2"), cluster.named("cp1").session
    assert other and other.etcd
    lease = str((await other.etcd.local().call("/v3/lease/grant", {"TTL": "60"}))["ID"])
    await other.etcd.local().claim("talos:v1:upgrade", "another machine", lease)
    request = UpgradeRequest(image="ghcr.io/siderolabs/installer:v1.13.9")
    with pytest.raises(GRPCError, match="failed to acquire upgrade mutex"):
        await cluster.call(machine, "MachineService/Upgrade", request)
    request.preserve = True  # from 1.12 on nobody asks etcd then
    boots = len(cluster.events("boot", "cp2"))
    await cluster.call(machine, "MachineService/Upgrade", request)
    await healthy_again(cluster, machine, boots)
    assert machine.version == "v1.13.9"
    await other.etcd.local().call("/v3/lease/revoke", {"ID": lease})


async def test_a_cluster_without_a_majority_is_restored_from_a_snapshot(cluster: Lab) -> None:
    first = cluster.named("cp1")
    assert first.session and first.session.etcd
    await first.session.etcd.local().put("canary", b"sings")
    data = b"".join(chunk.bytes for chunk in await cluster.stream(first, "EtcdSnapshot"))
    copy = await cluster.stream(first, "Read", ReadRequest(path="/var/lib/etcd/member/snap/db"))
    assert copy[0].bytes[16:20] == data[16:20]
    for name in ("cp2", "cp3"):
        cluster.faults.set(name, "etcd-lost")
        await cluster.named(name).power_off()
    for name in ("cp2", "cp3"):
        await cluster.named(name).power_on()
    for name in CONTROL_PLANES[::-1]:
        if name == "cp1":
            await cluster.call(first, "Reset", labels("EPHEMERAL"))
        await until(lambda: state(cluster, name) == "Preparing", f"{name} waits")  # noqa: B023
        cluster.faults.clear(name)
    await until(lambda: cluster.answers(first), "its API")
    with pytest.raises(GRPCError, match="no snapshot of etcd was uploaded"):
        await cluster.call(first, "Bootstrap", BootstrapRequest(recover_etcd=True))
    await cluster.call(first, "EtcdRecover", Data(bytes=data[:-40] + b"x" * 40))
    await cluster.call(first, "Bootstrap", BootstrapRequest(recover_etcd=True))
    await until(lambda: cluster.events("etcd-restore-failed"), "a damaged snapshot is refused")
    await cluster.call(first, "EtcdRecover", Data(bytes=data))
    await cluster.call(first, "Bootstrap", BootstrapRequest(recover_etcd=True))
    await until(lambda: cluster.events("etcd-restored"), "the restore")

    async def canary() -> bool:
        try:
            assert first.session and first.session.etcd
            return await first.session.etcd.local().get("canary") == b"sings"
        except EtcdError:
            return False

    await until(canary, "the canary")
    assert not first.snapshot.exists()

    async def joined() -> bool:
        try:
            found = await members(cluster)
        except GRPCError:
            return False
        return sorted(found) == CONTROL_PLANES and not any(member.is_learner for member in found.values())

    await until(joined, "the others join by themselves")


async def test_the_last_control_plane_that_is_reset_gracefully_comes_back_as_it_was(cluster: Lab) -> None:
    for name in ("cp3", "cp2"):
        await until(lambda: all_healthy(cluster), "all members are healthy")
        boots = len(cluster.events("boot", name))
        await cluster.call(cluster.named(name), "Reset", ResetRequest(graceful=True, reboot=False))
        await until(lambda: cluster.named(name).describe()["stage"] == "off", f"{name} is off")  # noqa: B023
        assert boots == len(cluster.events("boot", name)) and not cluster.named(name).disk.installed
    machine, boots = cluster.named("cp1"), len(cluster.events("boot", "cp1"))
    await cluster.call(machine, "Reset", ResetRequest(graceful=True, reboot=False))
    await healthy_again(cluster, machine, boots)
    assert machine.disk.configuration and "not enough started members" in cluster.events("fatal", "cp1")[-1]["why"]
    await cluster.call(machine, "Reset", ResetRequest(graceful=False, reboot=True))
    await until(lambda: machine.session and machine.session.stage == "maintenance", "maintenance")


def state(cluster: Lab, name: str) -> str:
    """The state of a machine's etcd, empty while it has none."""
    session = cluster.named(name).session
    return session.etcd.state if session and session.etcd else ""


def all_healthy(cluster: Lab) -> bool:
    """Whether every member that there is says that it is well."""
    found = [machine.session.etcd for machine in cluster.world.machines.values() if machine.session]
    return all(etcd.healthy for etcd in found if etcd)
