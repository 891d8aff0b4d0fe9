"""Three control planes with real etcd: joining, voting, leaving, the shared address, the API server, health."""

import contextlib
import gzip
import io
import tarfile
from typing import Any

import pytest
from grpclib import GRPCError, Status

from lab.machine import Machine
from lab.machine.pki import CLIENT, Authority, client_context
from lab.machine.web import Answer, ask
from talosapi.gen.cluster_pb2 import HealthCheckRequest
from talosapi.gen.machine_pb2 import EtcdMemberListRequest, EtcdRemoveMemberByIDRequest, ResetRequest
from tests.lab.machine.lab import Lab, until
from tests.lab.machine.test_apply import FILE

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
CONTROL_PLANES = ["cp1", "cp2", "cp3"]


async def members(lab: Lab, asked: str = "cp1", **request: bool) -> dict[str, Any]:
    answer = await lab.call(lab.named(asked), "EtcdMemberList", EtcdMemberListRequest(**request))
    return {member.hostname: member for member in answer.messages[0].members}


async def kubernetes(lab: Lab, host: str, path: str, organization: str | None = "system:masters") -> Answer:
    authority = Authority(lab.secrets.k8s.crt.encode(), lab.secrets.k8s.key.encode())
    pair = authority.issue("tester", [CLIENT], organizations=[organization]) if organization else None
    return await ask(host, 6443, client_context(authority.crt, pair), path)


def holder(lab: Lab) -> str:
    return next((machine.name for machine in lab.world.machines.values() if machine.describe()["vips"]), "")


async def healthy_again(lab: Lab, machine: Machine, boots: int) -> None:
    def back() -> bool:
        session = machine.session
        return bool(
            len(lab.events("boot", machine.name)) > boots
            and session
            and session.etcd
            and session.etcd.healthy
            and session.kubeapi
            and session.kubeapi.running
            and session.kubelet.joined
        )

    await until(back, f"{machine.name} is back")


async def test_every_control_plane_votes_and_says_the_same(cluster: Lab) -> None:
    for name in CONTROL_PLANES:
        found = await members(cluster, name)
        assert sorted(found) == CONTROL_PLANES
        assert not any(member.is_learner for member in found.values())
    status = (await cluster.call(cluster.named("cp2"), "EtcdStatus")).messages[0].member_status
    assert status.member_id == (await members(cluster))["cp2"].id
    assert status.leader in {member.id for member in (await members(cluster)).values()}


async def test_a_second_bootstrap_is_refused_everywhere(cluster: Lab) -> None:
    for name in CONTROL_PLANES:
        with pytest.raises(GRPCError, match="etcd data directory is not empty") as error:
            await cluster.call(cluster.named(name), "Bootstrap")
        assert error.value.status is Status.ALREADY_EXISTS
    assert len(cluster.events("etcd-bootstrap")) == 1


async def test_services_are_as_talosctl_shows_them(cluster: Lab) -> None:
    answer = await cluster.call(cluster.named("cp1"), "ServiceList")
    found = {service.id: (service.state, service.health.healthy) for service in answer.messages[0].services}
    for name in ("apid", "containerd", "cri", "etcd", "kubelet", "machined", "trustd", "udevd"):
        assert found[name] == ("Running", True)
    worker = await cluster.call(cluster.named("w1"), "ServiceList")
    assert not {"etcd", "trustd"} & {service.id for service in worker.messages[0].services}


async def test_the_api_server_answers_on_every_control_plane_and_on_the_shared_address(cluster: Lab) -> None:
    for host in (*(cluster.named(name).hardware.address for name in CONTROL_PLANES), cluster.vip):
        assert (await kubernetes(cluster, host, "/readyz")).body == b"ok"
    nodes = (await kubernetes(cluster, cluster.vip, "/api/v1/nodes")).json()["items"]
    ready = {node["metadata"]["name"]: node["status"]["conditions"][0]["status"] for node in nodes}
    assert ready == dict.fromkeys([*CONTROL_PLANES, "w1"], "True")


async def test_the_api_server_refuses_strangers(cluster: Lab) -> None:
    assert (await kubernetes(cluster, cluster.vip, "/readyz", None)).status == 401
    assert (await kubernetes(cluster, cluster.vip, "/api/v1/nodes", "nobodies")).status == 403
    assert (await kubernetes(cluster, cluster.vip, "/api/v1/secrets")).status == 404


async def test_the_kubeconfig_is_a_packed_file_for_the_endpoint(cluster: Lab) -> None:
    data = b"".join(chunk.bytes for chunk in await cluster.stream(cluster.named("cp2"), "Kubeconfig"))
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as archive:
        file = archive.extractfile("kubeconfig")
        assert archive.getnames() == ["kubeconfig"] and file
        assert f"https://{cluster.vip}:6443" in file.read().decode()
    with pytest.raises(GRPCError, match="kubeconfig is only available on control plane nodes"):
        await cluster.stream(cluster.named("w1"), "Kubeconfig")


async def test_the_health_check_passes_step_by_step(cluster: Lab) -> None:
    request = HealthCheckRequest()
    request.wait_timeout.FromSeconds(20)
    said = [message.message for message in await cluster.stream(cluster.named("cp1"), "HealthCheck", request)]
    assert said[0].startswith("discovered nodes: [")
    assert said[2] == "waiting for etcd to be healthy: OK"
    assert said[-1] == "waiting for all k8s nodes to report schedulable: OK"


async def test_the_health_check_says_what_is_missing_and_gives_up(cluster: Lab) -> None:
    cluster.faults.set("w1", "refuse")
    request = HealthCheckRequest()
    request.wait_timeout.FromMilliseconds(500)
    with pytest.raises(GRPCError) as error:
        await cluster.stream(cluster.named("cp1"), "HealthCheck", request)
    assert error.value.status is Status.DEADLINE_EXCEEDED
    cluster.faults.clear("w1")


async def test_a_snapshot_is_a_database(cluster: Lab) -> None:
    data = b"".join(chunk.bytes for chunk in await cluster.stream(cluster.named("cp1"), "EtcdSnapshot"))
    assert len(data) > 16384
    assert data[16:20] == bytes.fromhex("edda0ced")  # bbolt's magic number, little endian


async def test_the_leader_can_hand_over(cluster: Lab) -> None:
    status = (await cluster.call(cluster.named("cp1"), "EtcdStatus")).messages[0].member_status
    names = {member.id: name for name, member in (await members(cluster)).items()}
    leader = cluster.named(names[status.leader])
    heir = (await cluster.call(leader, "EtcdForfeitLeadership")).messages[0].member
    assert heir in CONTROL_PLANES and heir != leader.name
    assert (await cluster.call(leader, "EtcdForfeitLeadership")).messages[0].member == ""


async def test_the_shared_address_moves_when_its_holder_reboots_and_nothing_breaks(cluster: Lab) -> None:
    first = holder(cluster)
    machine, boots = cluster.named(first), len(cluster.events("boot", first))
    answer = await cluster.apply(machine, cluster.configuration(first, "controlplane", FILE, vip=True))
    assert "with a reboot" in answer.mode_details
    await until(lambda: holder(cluster) not in ("", first), "another holder")

    async def answers() -> bool:
        with contextlib.suppress(OSError, TimeoutError):
            return (await kubernetes(cluster, cluster.vip, "/readyz")).status == 200
        return False

    await until(answers, "the API server on the shared address")
    await healthy_again(cluster, machine, boots)
    assert sorted(await members(cluster)) == CONTROL_PLANES
    assert cluster.journal.violations() == []


async def test_a_removed_member_is_gone_and_one_that_is_not_there_is_not_found(cluster: Lab) -> None:
    with pytest.raises(GRPCError) as error:
        await cluster.call(cluster.named("cp1"), "EtcdRemoveMemberByID", EtcdRemoveMemberByIDRequest(member_id=42))
    assert error.value.status is Status.NOT_FOUND


async def test_a_control_plane_that_is_reset_leaves_etcd_and_can_join_again(cluster: Lab) -> None:
    machine = cluster.named("cp3")
    await cluster.call(machine, "Reset", ResetRequest(graceful=True, reboot=True))
    await until(lambda: machine.session and machine.session.stage == "maintenance", "maintenance")
    assert sorted(await members(cluster)) == ["cp1", "cp2"]
    boots, votes = len(cluster.events("boot", "cp3")), len(cluster.events("etcd-voting", "cp3"))
    await cluster.apply(machine, cluster.configuration("cp3", vip=True))
    await until(lambda: len(cluster.events("etcd-voting", "cp3")) > votes, "cp3 votes again")
    await healthy_again(cluster, machine, boots)
    assert sorted(await members(cluster)) == CONTROL_PLANES
    assert cluster.journal.violations() == []


async def test_a_power_cut_of_a_majority_is_a_violation_and_the_cluster_comes_back(cluster: Lab) -> None:
    boots = {name: len(cluster.events("boot", name)) for name in CONTROL_PLANES}
    for name in ("cp1", "cp2"):
        await cluster.named(name).power_off()
    assert {entry["invariant"] for entry in cluster.journal.violations()} == {
        "fewer voting etcd members up than a majority",
        "two control planes down at once",
    }
    with pytest.raises(GRPCError):
        await members(cluster, "cp3")
    for name in ("cp1", "cp2"):
        await cluster.named(name).power_on()
    for name in ("cp1", "cp2"):
        await healthy_again(cluster, cluster.named(name), boots[name])
    assert sorted(await members(cluster)) == CONTROL_PLANES
