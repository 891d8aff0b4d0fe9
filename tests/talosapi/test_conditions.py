import asyncio
import re
import ssl
from datetime import datetime, timedelta

import pytest
from grpclib.const import Status
from grpclib.exceptions import GRPCError

from talosapi import NotReady, kubernetes, waiting
from talosapi.cluster import wait_cluster
from talosapi.conditions import WORKER, control_plane
from talosapi.gen import resources_pb2
from talosapi.waiting import Pace, Patience
from tests.talosapi import machines
from tests.talosapi.machines import FakeCluster
from tests.talosapi.pki import Authority

QUICK = Pace(first=0.01, factor=1.0, longest=0.01)
ONE_LOOK = Pace(first=1000.0)  # the next look would be after the deadline


def patience(cluster: FakeCluster, **options: object) -> Patience:
    options = {"timeout": 60.0, "pace": QUICK, **options}
    return Patience(ports=cluster.ports, **options)  # type: ignore[arg-type]


async def wait(cluster: FakeCluster, **options: object) -> None:
    first, *peers = cluster.machines
    await waiting.wait([(first, control_plane(peers))], cluster.credentials, patience=patience(cluster, **options))


async def unmet(cluster: FakeCluster, **options: object) -> NotReady:
    """Return what the first look at the first machine finds missing."""
    with pytest.raises(NotReady) as caught:
        await wait(cluster, pace=ONE_LOOK, **options)
    return caught.value


async def test_a_healthy_control_plane_is_ready_at_once() -> None:
    async with machines.cluster() as cluster:
        await wait(cluster)
        assert cluster.machines[0].calls.count("Version") == 1


async def test_a_worker_is_ready_without_etcd() -> None:
    async with machines.cluster(1) as cluster:
        del cluster.machines[0].services["etcd"]
        await waiting.wait([(cluster.machines[0], WORKER)], cluster.credentials, patience=patience(cluster))


async def test_a_machine_is_waited_for_until_it_becomes_healthy() -> None:
    """Each look finds the machine one step further; nothing but the looks moves it on."""
    reports: list[str] = []
    async with machines.cluster() as cluster:
        machine = cluster.machines[0]
        machine.services["etcd"] = ("Preparing", False)
        machine.stage = resources_pb2.MACHINE_STAGE_BOOTING
        cluster.etcd.members[machine.member_id] = (machine.name, True)
        machine.readyz = 500

        def step(call: str) -> None:
            match machine.calls.count("Version") if call == "Version" else 0:
                case 3:
                    machine.stage = resources_pb2.MACHINE_STAGE_RUNNING
                case 5:
                    machine.services["etcd"] = ("Running", True)
                case 7:
                    cluster.etcd.members[machine.member_id] = (machine.name, False)
                case 9:
                    machine.readyz = 200

        machine.before = step
        await wait(cluster, report=reports.append)
        assert machine.calls.count("Version") == 9
    assert reports == [
        "cp-1 (127.7.0.1): waiting for it to have booted",
        "cp-1 (127.7.0.1): waiting for etcd to be healthy",
        "cp-1 (127.7.0.1): waiting for its etcd member to vote",
        "cp-1 (127.7.0.1): waiting for the Kubernetes API on it to be ready",
    ]


async def test_an_api_that_drops_every_third_call_only_takes_longer() -> None:
    async with machines.cluster() as cluster:
        for machine in cluster.machines:

            def drop(call: str, machine: machines.FakeMachine = machine) -> None:
                if len(machine.calls) % 3 == 0:
                    raise GRPCError(Status.UNAVAILABLE, "dropped")

            machine.before = drop
        await wait(cluster)


@pytest.mark.parametrize(
    ("stage", "seen"),
    [
        (resources_pb2.MACHINE_STAGE_REBOOTING, "it is rebooting"),
        (resources_pb2.MACHINE_STAGE_UPGRADING, "it is upgrading"),
    ],
)
async def test_a_machine_on_its_way_down_is_not_ready_however_healthy_the_rest(stage: int, seen: str) -> None:
    async with machines.cluster() as cluster:
        cluster.machines[0].stage = stage
        assert (await unmet(cluster)).seen == seen


async def test_the_message_says_which_machine_what_was_waited_for_what_was_seen_and_what_to_do() -> None:
    async with machines.cluster() as cluster:
        cluster.machines[0].services["etcd"] = ("Preparing", False)
        problem = await unmet(cluster)
    assert problem.node == "cp-1 (127.7.0.1)"
    assert re.fullmatch(
        r"cp-1 \(127\.7\.0\.1\): waited \d+ s for etcd to be healthy; last seen: etcd is Preparing: so it says; "
        r"`talosctl -n 127\.7\.0\.1 logs etcd` says why",
        str(problem),
    )


async def test_a_learner_does_not_count() -> None:
    async with machines.cluster() as cluster:
        cluster.etcd.members[cluster.machines[0].member_id] = ("cp-1", True)
        assert (await unmet(cluster)).seen == "cp-1 has it as a learner that does not vote yet"


async def test_every_peer_must_know_the_member() -> None:
    async with machines.cluster() as cluster:
        cluster.machines[2].etcd = machines.Etcd({0xA3: ("cp-3", False)})
        assert (await unmet(cluster)).seen == "cp-3 does not have it among the members"


async def test_a_peer_that_does_not_answer_is_named() -> None:
    async with machines.cluster() as cluster:

        def refuse(call: str) -> None:
            raise GRPCError(Status.UNAVAILABLE, "down for today")

        cluster.machines[1].before = refuse
        assert (await unmet(cluster)).seen == "cp-2 does not say who the members are: down for today"


async def test_an_unready_kubernetes_api_is_reported_with_the_failing_checks() -> None:
    async with machines.cluster() as cluster:
        cluster.machines[0].readyz = 500
        problem = await unmet(cluster)
    assert problem.waiting_for == "the Kubernetes API on it to be ready"
    assert problem.seen == "it answers with status 500, failing: etcd"


async def test_a_kubernetes_api_with_another_ca_is_not_trusted() -> None:
    async with machines.cluster() as cluster:
        other = Authority("kubernetes")
        cluster.machines[0].kubeconfig = machines.archive(machines.kubeconfig_text(other.pem, other.client()))
        assert "is refused" in (await unmet(cluster)).seen


async def test_a_machine_that_hangs_is_given_up_at_the_deadline() -> None:
    async with machines.cluster() as cluster:
        forever = asyncio.Event()
        cluster.machines[0].before = lambda call: forever.wait()
        problem = await unmet(cluster, call_timeout=0.1)
    assert problem.waiting_for == "its machine API to answer with the cluster's certificate"
    assert problem.seen.endswith("within 0.1 s")


async def test_the_deadline_holds_in_the_middle_of_a_look() -> None:
    async with machines.cluster() as cluster:
        forever = asyncio.Event()
        cluster.machines[0].before = lambda call: forever.wait()
        with pytest.raises(NotReady, match="nothing in all that time") as caught:
            await wait(cluster, timeout=0.3, attempts=100_000)
    assert caught.value.waited < 10


async def test_maintenance_mode_is_not_ready() -> None:
    async with machines.cluster() as cluster:
        machine = cluster.machines[0]
        machine.address = "127.7.0.9"
        context = machines.server_context(None, Authority().server(machine.address))
        async with machines.serve_talos(machine, context, cluster.ports.talos):
            problem = await unmet(cluster)
    assert problem.seen.startswith("its certificate is refused: ")
    assert "maintenance mode" in problem.cure


async def test_a_certificate_that_is_not_valid_yet_names_both_clocks() -> None:
    async with machines.cluster() as cluster:
        machine = cluster.machines[0]
        machine.address = "127.7.0.9"
        ahead = cluster.authority.server(machine.address, age=-timedelta(days=3))
        context = machines.server_context(cluster.authority, ahead)
        async with machines.serve_talos(machine, context, cluster.ports.talos):
            problem = await unmet(cluster)
    told = re.search(r"it is valid from (.*) UTC on, and it is (.*) UTC here$", problem.seen)
    assert told and timedelta(days=1) < datetime.fromisoformat(told[1]) - datetime.fromisoformat(told[2])
    assert problem.cure.startswith("fix its time")


async def test_time_that_is_not_synchronised_names_both_clocks() -> None:
    async with machines.cluster() as cluster:
        cluster.machines[0].synced = False
        problem = await unmet(cluster)
    assert problem.waiting_for == "its time to be synchronised"
    assert re.search(r"its clock says 2001-09-09 01:47:40 UTC, and it is 20.* UTC here$", problem.seen)


async def test_a_long_wait_says_again_and_again_what_it_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SAY_EVERY", 0.01)
    reports: list[str] = []
    async with machines.cluster() as cluster:
        machine = cluster.machines[0]
        machine.services["etcd"] = ("Preparing", False)

        def mend(call: str) -> None:
            if sum("still waiting for etcd to be healthy" in line for line in reports) >= 3:
                machine.services["etcd"] = ("Running", True)

        machine.before = mend
        await wait(cluster, report=reports.append)
    said = next(line for line in reports if "still waiting for etcd" in line)
    assert re.fullmatch(
        r"cp-1 \(127\.7\.0\.1\): still waiting for etcd to be healthy after \d+ s; "
        r"last seen: etcd is Preparing: so it says",
        said,
    )


async def test_a_whole_cluster_is_waited_for_and_every_machine_that_is_not_ready_is_named() -> None:
    async with machines.cluster(4) as cluster:
        *control_planes, worker = cluster.machines
        del cluster.etcd.members[worker.member_id]
        await wait_cluster(control_planes, [worker], cluster.credentials, patience=patience(cluster))
        control_planes[1].services["etcd"] = ("Failed", False)
        worker.services["kubelet"] = ("Waiting", False)
        with pytest.raises(NotReady) as caught:
            await wait_cluster(control_planes, [worker], cluster.credentials, patience=patience(cluster, pace=ONE_LOOK))
    first, second = str(caught.value).splitlines()
    assert first.startswith("cp-2 (127.7.0.2): waited")
    assert second.startswith("cp-4 (127.7.0.4): waited")


async def test_a_member_that_is_no_control_plane_is_named_with_its_id() -> None:
    async with machines.cluster() as cluster:
        cluster.etcd.members[0xBEEF] = ("cp-old", False)
        gone = r"there is also cp-old at 127\.7\.0\.15 \(000000000000beef\).*does not answer.*etcd remove-member"
        with pytest.raises(NotReady, match=gone):
            await wait_cluster(cluster.machines, [], cluster.credentials, patience=patience(cluster, pace=ONE_LOOK))


async def test_a_wait_can_be_cancelled_and_leaves_nothing_running() -> None:
    async with machines.cluster() as cluster:
        cluster.machines[0].services["kubelet"] = ("Waiting", False)
        reported = asyncio.Event()
        task = asyncio.create_task(wait(cluster, report=lambda line: reported.set()))
        await reported.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_kubernetes_api_that_speaks_something_else_or_nothing_is_an_error() -> None:
    async def noise(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0\r\n")
        await writer.drain()
        writer.close()

    authority = Authority()
    pair = authority.server("127.7.0.1")
    person = authority.client()
    context = kubernetes.Identity(authority.pem, person.crt, person.key).context()
    server = await asyncio.start_server(noise, "127.7.0.1", 0, ssl=machines.server_context(authority, pair))
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(kubernetes.KubernetesError, match="something that is not HTTP"):
            await kubernetes.readyz("127.7.0.1", context, port=port)
    with pytest.raises(kubernetes.KubernetesError, match="no connection to"):
        await kubernetes.readyz("127.7.0.1", context, port=port)
    assert context.verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize("text", ["", "[]", "a: b", ": :", "current-context: x\ncontexts: []\n"])
def test_a_kubeconfig_without_an_identity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the kubeconfig has no current context with a CA and a client certificate"):
        kubernetes.Identity.of(text)
