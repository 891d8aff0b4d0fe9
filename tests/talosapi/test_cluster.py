import pytest
from grpclib.const import Status
from grpclib.exceptions import GRPCError

from talosapi import Client, CredentialsError, NotReady, waiting
from talosapi import cluster as joined
from talosapi.authority import Authority as MachineCa
from talosapi.conditions import WORKER, rebooted, unless_in_maintenance
from tests.talosapi import machines
from tests.talosapi.pki import Authority
from tests.talosapi.test_conditions import ONE_LOOK, patience


def down(call: str) -> None:
    raise GRPCError(Status.UNAVAILABLE, "down for today")


async def test_a_control_plane_that_never_joined_holds_nobody_up() -> None:
    async with machines.cluster() as cluster:
        del cluster.etcd.members[0xA3]
        cluster.machines[2].before = down
        await joined.wait_others(cluster.machines[0], cluster.machines, cluster.credentials, patience=patience(cluster))
        await joined.wait_member(cluster.machines[0], cluster.machines, cluster.credentials, patience=patience(cluster))


async def test_a_member_that_is_down_stops_the_change_of_another() -> None:
    async with machines.cluster() as cluster:
        cluster.machines[2].before = down
        with pytest.raises(NotReady, match=r"(?m)^cp-3 .*down for today"):
            await joined.wait_others(
                cluster.machines[0], cluster.machines, cluster.credentials, patience=patience(cluster, pace=ONE_LOOK)
            )


async def test_without_anybody_who_knows_the_members_nothing_is_said() -> None:
    async with machines.cluster() as cluster:
        for machine in cluster.machines:
            machine.before = down
        with pytest.raises(NotReady, match=r"no control plane says who the members are; cp-1 is unknown: down"):
            await joined.wait_others(
                cluster.machines[0], cluster.machines, cluster.credentials, patience=patience(cluster, pace=ONE_LOOK)
            )


async def test_a_reboot_is_over_when_the_machine_answers_from_another_boot() -> None:
    async with machines.cluster(1) as cluster:
        machine = cluster.machines[0]
        async with Client(machine.address, cluster.credentials, port=cluster.ports.talos) as client:
            before = await client.boot_id()
        machine.calls.clear()

        def reboot(call: str) -> None:
            match len(machine.calls):
                case 2:
                    down(call)
                case 4:
                    machine.boot_id = "second"

        machine.before = reboot
        wanted = [(machine, [rebooted(before)])]
        await waiting.wait(wanted, cluster.credentials, patience=patience(cluster, attempts=1))
        assert len(machine.calls) == 4


async def test_a_worker_in_maintenance_mode_is_not_waited_for_and_a_sick_one_is() -> None:
    async with machines.cluster(2) as cluster:
        sick, fresh = cluster.machines
        fresh.address = "127.7.0.9"
        context = machines.server_context(None, Authority().server(fresh.address))
        async with machines.serve_talos(fresh, context, cluster.ports.talos):
            wanted = [(machine, [unless_in_maintenance(*WORKER)]) for machine in cluster.machines]
            await waiting.wait(wanted, cluster.credentials, patience=patience(cluster))
            sick.services["kubelet"] = ("Waiting", False)
            with pytest.raises(NotReady, match=r"^cp-1 .*kubelet is Waiting"):
                await waiting.wait(wanted, cluster.credentials, patience=patience(cluster, pace=ONE_LOOK))


async def test_the_sick_are_those_that_are_not_healthy_and_not_in_maintenance_mode() -> None:
    async with machines.cluster(3) as cluster:
        well, sick, fresh = cluster.machines
        fresh.address = "127.7.0.9"
        sick.services["kubelet"] = ("Waiting", False)
        context = machines.server_context(None, Authority().server(fresh.address))
        async with machines.serve_talos(fresh, context, cluster.ports.talos):
            wanted = [(machine, [unless_in_maintenance(*WORKER)]) for machine in (well, sick, fresh)]
            found = await waiting.not_ready(wanted, cluster.credentials, patience=patience(cluster, pace=ONE_LOOK))
        assert set(found) == {sick.name}


def test_the_machine_ca_is_read_and_its_faults_are_named_without_showing_it() -> None:
    authority = Authority()
    assert "key" not in repr(MachineCa.of(authority.pem, authority.key_pem)).lower()
    with pytest.raises(CredentialsError, match="the machine CA or its key is not in PEM form"):
        MachineCa.of(authority.pem, b"TOPSECRET")
