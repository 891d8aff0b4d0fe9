"""What Talos does with its own Node before it goes down and when it is back."""

import pytest

from lab.machine import Machine
from talosapi.gen.machine_pb2 import UpgradeRequest
from tests.lab.machine.lab import Lab, until
from tests.lab.machine.test_upgrade import NEXT

pytestmark = [pytest.mark.asyncio(loop_scope="module")]


async def unschedulable(cluster: Lab, name: str) -> bool:
    """Whether a Node is cordoned."""
    session = cluster.named("cp1").session
    assert session and session.kubeapi
    node = await session.kubeapi.nodes.one(name)
    return bool(node and node["spec"].get("unschedulable"))


async def upgraded(cluster: Lab, machine: Machine, image: str, version: str) -> None:
    """Upgrade by the older call until the Node is back."""
    await cluster.call(machine, "MachineService/Upgrade", UpgradeRequest(image=image))
    await until(lambda: machine.version == version and machine.session and machine.session.kubelet.joined, "upgraded")


async def test_a_cordon_of_talos_is_gone_after_the_boot(cluster: Lab) -> None:
    machine = cluster.named("w1")
    await upgraded(cluster, machine, NEXT, "v1.14.1")
    assert cluster.events("cordoned", "w1")
    await until(lambda: cluster.events("uncordoned", "w1"), "it uncordons itself")
    assert not await unschedulable(cluster, "w1")


async def test_a_cordon_of_somebody_else_survives_the_boot(cluster: Lab) -> None:
    session = cluster.named("cp1").session
    assert session and session.kubeapi
    await session.kubeapi.nodes.patch("w1", {"spec": {"unschedulable": True}})
    await upgraded(cluster, cluster.named("w1"), NEXT.replace("14.1", "14.2"), "v1.14.2")
    await until(lambda: len(cluster.events("proven", "w1")) == 2, "it is ready")
    assert await unschedulable(cluster, "w1")
    assert len(cluster.events("uncordoned", "w1")) == 1


async def test_without_a_kubernetes_api_an_upgrade_ends_in_the_old_version(cluster: Lab) -> None:
    machine, boots = cluster.named("w1"), len(cluster.events("boot", "w1"))
    for name in ("cp1", "cp2", "cp3"):
        session = cluster.named(name).session
        assert session and session.kubeapi
        session.kubeapi.close()
    answer = await cluster.call(machine, "MachineService/Upgrade", UpgradeRequest(image=NEXT))
    assert answer.messages[0].ack
    await until(lambda: len(cluster.events("boot", "w1")) > boots, "it reboots")
    assert cluster.events("fatal", "w1")[-1]["why"] == "the node was not cordoned within a minute"
    assert machine.version == "v1.14.2"
