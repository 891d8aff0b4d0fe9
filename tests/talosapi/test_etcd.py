"""What control planes say of etcd."""

import asyncio

import pytest
from grpclib.const import Status
from grpclib.exceptions import GRPCError

from talosapi import NotReady, etcd
from talosapi.etcd import Existence
from talosapi.quorum import Decision, Step
from tests.talosapi import machines
from tests.talosapi.machines import FakeCluster, FakeMachine
from tests.talosapi.pki import Authority
from tests.talosapi.test_conditions import ONE_LOOK, patience


def down(call: str) -> None:
    raise GRPCError(Status.UNAVAILABLE, "down for today")


async def existence(cluster: FakeCluster, **options: object) -> Existence:
    return await etcd.existence(cluster.machines, cluster.credentials, patience=patience(cluster, **options))


async def may_go_down(cluster: FakeCluster, machine: FakeMachine, **options: object) -> Decision:
    return await etcd.wait_until_it_may(
        Step.GOES_DOWN, machine, cluster.machines, cluster.credentials, patience=patience(cluster, **options)
    )


async def test_etcd_exists_where_any_machine_runs_it_whatever_the_others_do() -> None:
    async with machines.cluster() as cluster:
        forever = asyncio.Event()
        cluster.machines[0].before = lambda call: forever.wait()
        cluster.machines[1].services["etcd"] = ("Preparing", False)
        found = await existence(cluster)
        assert found.where is cluster.machines[2] and found.yes is True


async def test_etcd_exists_where_its_data_is_although_it_does_not_run() -> None:
    async with machines.cluster(1) as cluster:
        cluster.machines[0].services["etcd"] = ("Failed", False)
        cluster.machines[0].etcd_data = True
        assert (await existence(cluster)).yes is True


async def test_there_is_no_etcd_where_all_are_in_maintenance_mode_or_wait_for_a_bootstrap_without_data() -> None:
    async with machines.cluster(2) as cluster:
        preparing, fresh = cluster.machines
        preparing.services["etcd"] = ("Preparing", False)
        fresh.address = "127.7.0.9"
        context = machines.server_context(None, Authority().server(fresh.address))
        async with machines.serve_talos(fresh, context, cluster.ports.talos):
            assert (await existence(cluster)).yes is False


@pytest.mark.parametrize("kind", ["refuses", "hangs", "another cluster", "boots", "waits"])
async def test_a_machine_that_does_not_say_could_have_etcd_so_nobody_says_no(kind: str) -> None:
    async with machines.cluster() as cluster:
        for machine in cluster.machines:
            machine.services["etcd"] = ("Preparing", False)
        quiet = cluster.machines[1]
        forever, other = asyncio.Event(), Authority()
        match kind:
            case "refuses" | "another cluster":
                quiet.address = "127.7.0.8"
            case "hangs":
                quiet.before = lambda call: forever.wait()
            case "boots":
                del quiet.services["etcd"]
            case "waits":
                quiet.services["etcd"] = ("Waiting", False)
        context = machines.server_context(other, other.server(quiet.address))
        where = quiet if kind == "another cluster" else FakeMachine("else", "127.7.0.10", cluster.etcd, 1)
        async with machines.serve_talos(where, context, cluster.ports.talos if where is quiet else 0):
            found = await existence(cluster, timeout=2.0, call_timeout=0.2, attempts=1)
        assert found.yes is None
        unknown = next(error for error in found.unknown if error.node.startswith("cp-2 (127.7.0."))
        assert "it to say whether it has etcd, because a second bootstrap could split" in str(unknown)


async def test_a_machine_that_still_boots_is_waited_for() -> None:
    async with machines.cluster(1) as cluster:
        machine = cluster.machines[0]
        del machine.services["etcd"]

        def boot(call: str) -> None:
            if machine.calls.count("ServiceList") == 3:
                machine.services["etcd"] = ("Preparing", False)

        machine.before = boot
        assert (await existence(cluster)).yes is False


async def test_one_of_three_may_go_down_and_one_of_two_not_at_once() -> None:
    async with machines.cluster() as cluster:
        assert (await may_go_down(cluster, cluster.machines[0])).yes
    async with machines.cluster(2) as cluster:
        with pytest.raises(NotReady, match=r"etcd has 2 voters \(cp-1, cp-2\), 2 up, a majority of 2 is 2"):
            await may_go_down(cluster, cluster.machines[0], timeout=600)


async def test_a_control_plane_that_was_removed_from_etcd_keeps_the_other_two_up() -> None:
    async with machines.cluster() as cluster:
        del cluster.etcd.members[0xA3]
        cluster.machines[2].services["etcd"] = ("Waiting", False)
        with pytest.raises(NotReady, match=r"do not vote: cp-3 \(etcd is Waiting.*get cp-3 to vote first") as caught:
            await may_go_down(cluster, cluster.machines[0], pace=ONE_LOOK)
        assert "remove-member" not in str(caught.value)
        assert (await may_go_down(cluster, cluster.machines[2])).yes


async def test_a_member_that_is_no_control_plane_of_the_file_is_asked_before_anything_is_said_of_it() -> None:
    async with machines.cluster(3) as cluster:
        stranger = cluster.machines.pop()
        with pytest.raises(NotReady, match=r"there is also cp-3 at 127.7.0.3 .* and answers") as caught:
            await may_go_down(cluster, cluster.machines[0], pace=ONE_LOOK)
        assert "remove-member" not in str(caught.value) and "put it back into the stack file" in str(caught.value)
        stranger.before = down
        with pytest.raises(NotReady, match=r"does not answer \(down for today\).*etcd remove-member 00000000000000a3"):
            await may_go_down(cluster, cluster.machines[0], pace=ONE_LOOK)


async def test_a_member_at_the_old_address_of_a_control_plane_is_told_from_one_that_was_taken_out() -> None:
    async with machines.cluster(3) as cluster:
        cluster.machines[2] = FakeMachine("cp-3", "127.7.0.9", cluster.etcd, 0xA3)
        with pytest.raises(NotReady, match=r"an address is the identity of a machine: put 127\.7\.0\.3 back") as caught:
            await may_go_down(cluster, cluster.machines[0], pace=ONE_LOOK)
        assert "remove-member" not in str(caught.value)


async def test_a_member_that_is_down_beside_others_has_time_to_come_up_before_its_change() -> None:
    async with machines.cluster() as cluster:
        _, second, third = cluster.machines
        second.services["etcd"] = third.services["etcd"] = ("Failed", False)
        with pytest.raises(NotReady, match="no member runs on it"):
            await may_go_down(cluster, third, pace=ONE_LOOK)
        decision = await may_go_down(cluster, third, timeout=1.0)
        assert decision.yes and decision.while_down
