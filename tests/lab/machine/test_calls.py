"""Who may call, for which machine, and what faults do to a call."""

import pytest
from grpclib import GRPCError, Status
from grpclib.exceptions import StreamTerminatedError

from lab.machine.roles import may_call
from talosapi.gen.cosi_pb2 import GetRequest, ListRequest
from talosapi.gen.machine_pb2 import ReadRequest, ResetRequest
from talosapi.gen.resources_pb2 import TimeStatusSpec
from tests.lab.machine.lab import Lab, until
from tests.lab.machine.test_life import up


@pytest.mark.parametrize(
    ("role", "method", "allowed"),
    [
        ("os:reader", "Version", True),
        ("os:reader", "EtcdMemberList", True),
        ("os:reader", "Reboot", False),
        ("os:operator", "Reboot", True),
        ("os:operator", "EtcdSnapshot", True),
        ("os:operator", "ApplyConfiguration", False),
        ("os:operator", "Reset", False),
        ("os:etcd:backup", "EtcdSnapshot", True),
        ("os:etcd:backup", "Version", False),
        ("os:admin", "Bootstrap", True),
        ("os:nobody", "Version", False),
    ],
)
def test_roles_allow_what_talos_allows(role: str, method: str, allowed: bool) -> None:
    assert may_call(f"/machine.MachineService/{method}", [role]) is allowed


async def test_a_reader_may_look_but_not_change(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    assert (await lab.call(machine, "Version", role="os:reader")).messages
    for method in ("Kubeconfig", "Reboot", "Bootstrap"):
        with pytest.raises(GRPCError, match="not authorized"):
            await lab.call(machine, method, role="os:reader")
    with pytest.raises(GRPCError, match="not authorized"):
        await lab.apply(machine, lab.configuration("a"), role="os:reader")


async def test_a_control_plane_relays_to_one_machine_or_to_several(lab: Lab) -> None:
    first, second = await up(lab, "a", 11), await up(lab, "b", 12)
    address = second.hardware.address
    one = await lab.call(first, "Hostname", metadata=[("node", address)])
    assert one.messages[0].hostname == "b" and not one.messages[0].HasField("metadata")
    nobody = f"{lab.network}.99"
    many = await lab.call(first, "Hostname", metadata=[("nodes", address), ("nodes", nobody)])
    assert [(m.metadata.hostname, m.hostname, bool(m.metadata.error)) for m in many.messages] == [
        (address, "b", False),
        (nobody, "", True),
    ]
    assert many.messages[1].metadata.status.code == Status.UNAVAILABLE.value


async def test_the_role_goes_with_a_relayed_call(lab: Lab) -> None:
    first, second = await up(lab, "a", 11), await up(lab, "b", 12)
    with pytest.raises(GRPCError, match="not authorized"):
        await lab.call(first, "Reboot", role="os:reader", metadata=[("node", second.hardware.address)])


async def test_nobody_becomes_an_administrator_by_saying_so(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    with pytest.raises(GRPCError, match="not authorized"):
        await lab.call(machine, "Reboot", role="os:reader", metadata=[("talos-role", "os:admin")])


async def test_resources_go_to_one_machine_at_a_time(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    request = GetRequest(namespace="config", type="MachineConfigs.config.talos.dev", id="v1alpha1")
    with pytest.raises(GRPCError, match="one-2-many proxying is not supported"):
        await lab.call(machine, "Get", request, metadata=[("nodes", machine.hardware.address)])
    found = (await lab.call(machine, "Get", request)).resource
    assert found.metadata.version == "1"
    assert b"machine:" in found.spec.proto_spec
    with pytest.raises(GRPCError, match="not authorized"):
        await lab.call(machine, "Get", request, role="os:reader")
    request.id = "other"
    with pytest.raises(GRPCError, match="doesn't exist"):
        await lab.call(machine, "Get", request)


async def test_a_machine_is_listed_for_half_an_hour_after_it_was_last_heard_of_unless_it_was_reset(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    others = [await up(lab, name, octet) for name, octet in (("b", 12), ("c", 13))]

    async def members() -> list[str]:
        request = ListRequest(namespace="cluster", type="Members.cluster.talos.dev")
        return sorted(answer.resource.metadata.id for answer in await lab.stream(machine, "State/List", request))

    assert await members() == ["a", "b", "c"]
    await lab.call(others[1], "Reset", ResetRequest(reboot=True))
    await until(lambda: others[1].session and others[1].session.stage == "maintenance", "maintenance")
    gone = lab.clock.now()
    await others[0].power_off()
    assert await members() == ["a", "b"]

    async def forgotten() -> bool:
        return await members() == ["a"]

    await until(forgotten, "the machine without power is forgotten")
    assert lab.clock.now() - gone >= 1800


async def test_every_nth_call_is_lost_before_it_is_carried_out(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    lab.faults.set("a", "drop", every=2)
    await lab.call(machine, "Version")
    with pytest.raises((StreamTerminatedError, OSError)):
        await lab.call(machine, "Reboot")
    assert lab.events("call")[-1]["lost"]
    await lab.call(machine, "Version")
    assert machine.session and not machine.session.ending.done()


async def test_an_answer_can_be_lost_after_the_call_was_carried_out(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    lab.faults.set("a", "drop", every=1, answer=True)
    boots = len(lab.events("boot"))
    with pytest.raises((StreamTerminatedError, OSError, GRPCError)):
        await lab.call(machine, "Reboot")
    await until(lambda: len(lab.events("boot")) > boots, "it reboots all the same")


async def test_a_machine_can_refuse_connections_for_a_while(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    lab.faults.set("a", "refuse")
    with pytest.raises(OSError):
        await lab.call(machine, "Version")
    lab.faults.clear("a")
    await until(lambda: lab.answers(machine), "it answers again")


async def test_a_call_can_take_longer(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    lab.faults.set("a", "delay", seconds=100.0)
    start = lab.clock.now()
    await lab.call(machine, "Version")
    assert lab.clock.now() - start >= 100


async def test_a_machine_that_never_comes_back_does_when_the_fault_is_cleared(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    lab.faults.set("a", "never-back")
    await lab.call(machine, "Reboot")
    await until(lambda: machine.describe()["stage"] == "hangs", "it hangs")
    lab.faults.clear("a", "never-back")
    await until(lambda: machine.session and machine.session.cri, "it is back")


async def test_a_clock_that_is_wrong_keeps_a_machine_from_being_trusted(lab: Lab) -> None:
    lab.faults.set("a", "clock-skew", seconds=7200)
    machine = await lab.in_maintenance("a", 11)
    await lab.apply(machine, lab.configuration("a"))

    async def not_trusted() -> bool:
        with pytest.raises(OSError) as error:
            await lab.call(machine, "Version")
        return "not yet valid" in str(error.value)  # until it runs there is nobody to trust

    await until(lambda: machine.session and machine.session.cri, "it runs")
    await until(not_trusted, "its certificate is refused")
    await until(
        lambda: machine.session and machine.session.etcd and machine.session.etcd.message == "Waiting for time sync",
        "etcd waits for the time",
    )


async def test_a_machine_tells_its_time_and_whether_it_is_synchronised(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    request = GetRequest(namespace="runtime", type="TimeStatuses.v1alpha1.talos.dev", id="node")

    async def synchronised() -> bool:
        return TimeStatusSpec.FromString((await lab.call(machine, "Get", request)).resource.spec.proto_spec).synced

    async def booted() -> int:
        (answer,) = await lab.stream(machine, "Read", ReadRequest(path="/proc/stat"))
        return int(answer.bytes.split(b"btime ")[1])

    assert await synchronised()
    before = await booted()
    lab.faults.set("a", "clock-skew", seconds=1_000_000)
    assert not await synchronised()
    assert await booted() - before > 900_000


async def test_the_journal_never_holds_what_the_machines_know(lab: Lab) -> None:
    await up(lab, "a", 11)
    text = lab.journal.path.read_text()
    assert lab.secrets.trustd_token not in text and lab.secrets.bootstrap_token not in text
    lab.journal.record("call", "a", error=f"token {lab.secrets.trustd_token}")
    assert lab.secrets.trustd_token not in lab.journal.path.read_text()
    assert lab.journal.violations()[-1]["invariant"] == "secret in a log"
