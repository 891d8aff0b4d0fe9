"""Talos's own client against simulated machines, where it is installed."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from machinery import client_certificate, talosconfig
from tests.lab.machine.lab import Lab, until
from tests.lab.machine.test_apply import SYSCTL
from tests.lab.machine.test_etcd import all_healthy
from tests.lab.machine.test_upgrade import NEXT, SCHEMATIC

TALOSCTL = shutil.which("talosctl")
pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not TALOSCTL, reason="talosctl is not on PATH"),
]
Talosctl = Callable[..., Awaitable[str]]
LATE = {"seconds": 400.0}  # what talosctl follows is down for longer than it waits between two attempts


@pytest_asyncio.fixture(loop_scope="module")
async def talosctl(cluster: Lab, tmp_path: Path) -> AsyncIterator[Talosctl]:
    """Run talosctl with a talosconfig for the cluster and return what it prints; it must succeed, or fail if told."""
    first = cluster.named("cp1").hardware.address
    client = client_certificate(cluster.secrets.os)
    config = tmp_path / "talosconfig"
    config.write_text(talosconfig("demo", cluster.secrets.os.crt, client, [first], [first]))

    async def run(*arguments: str, fails: bool = False) -> str:
        command = [str(TALOSCTL), "--talosconfig", str(config), *arguments]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=asyncio.subprocess.STDOUT)
        output, _ = await asyncio.wait_for(process.communicate(), 90)
        assert bool(process.returncode) == fails, output.decode()
        return output.decode()

    yield run


async def test_version_members_services_and_memory(cluster: Lab, talosctl: Talosctl) -> None:
    worker = cluster.named("w1").hardware.address
    assert "RBAC" in await talosctl("version", "-n", f"{cluster.named('cp2').hardware.address},{worker}")
    members = await talosctl("etcd", "members")
    assert all(f" {name} " in members for name in ("cp1", "cp2", "cp3"))
    assert "kubelet" in await talosctl("services", "-n", worker)
    assert "4096" in await talosctl("memory")


async def test_health_passes_on_the_server(talosctl: Talosctl) -> None:
    assert "all k8s nodes to report ready: OK" in await talosctl("health", "--wait-timeout", "60s")


async def test_health_passes_on_the_client_too(cluster: Lab, talosctl: Talosctl) -> None:
    control_planes = ",".join(cluster.named(name).hardware.address for name in ("cp1", "cp2", "cp3"))
    nodes = ("--control-plane-nodes", control_planes, "--worker-nodes", cluster.named("w1").hardware.address)
    said = await talosctl("health", "--server=false", "--wait-timeout", "60s", *nodes)
    assert "all k8s nodes to report schedulable: OK" in said


async def test_configurations_can_be_shown_tried_dry_and_patched(
    cluster: Lab, talosctl: Talosctl, tmp_path: Path
) -> None:
    assert "v1alpha1" in await talosctl("get", "machineconfig")
    assert "type: controlplane" in await talosctl("get", "mc", "v1alpha1", "-o", "yaml")
    file = tmp_path / "cp1.yaml"
    file.write_text(cluster.configuration("cp1", "controlplane", SYSCTL, vip=True))
    assert "+        net.core.somaxconn" in await talosctl("apply-config", "--dry-run", "-f", str(file))
    assert "without a reboot" in await talosctl("patch", "mc", "-p", SYSCTL)


async def test_a_machine_in_maintenance_takes_a_configuration(cluster: Lab, talosctl: Talosctl, tmp_path: Path) -> None:
    machine = await cluster.in_maintenance("w2", 22)
    address = machine.hardware.address
    file = tmp_path / "w2.yaml"
    file.write_text(cluster.configuration("w2", "worker", vip=True))
    assert "v1.13.9" in await talosctl("version", "--insecure", "-n", address)
    assert " sda " in await talosctl("get", "disks", "--insecure", "-n", address)
    await talosctl("apply-config", "--insecure", "-n", address, "-f", str(file))
    await until(lambda: machine.session and machine.session.kubelet.joined, "w2 joins")


async def test_a_reboot_and_an_upgrade_are_followed_to_their_end(cluster: Lab, talosctl: Talosctl) -> None:
    worker, machine = cluster.named("w1").hardware.address, cluster.named("w1")
    cluster.faults.set("w1", "reboot-late", **LATE)
    assert "post check passed" in await talosctl("reboot", "-n", worker, "--wait", "--timeout", "60s")
    said = await talosctl("upgrade", "-n", worker, "--image", NEXT, "--timeout", "60s")
    assert "installation of v1.14.1 complete" in said and "node uncordoned" in said
    assert machine.version == "v1.14.1" and machine.describe()["schematic"] == SCHEMATIC
    assert "Talos-v1.14.1.efi" in await talosctl("get", "bootedentry", "-n", worker, "-o", "yaml")
    await talosctl("rollback", "-n", worker)
    await until(
        lambda: machine.version == "v1.13.0" and machine.session and machine.session.kubelet.joined, "it is back"
    )
    cluster.faults.clear("w1")


async def test_an_upgrade_that_cannot_be_says_why(cluster: Lab, talosctl: Talosctl) -> None:
    address = cluster.named("cp2").hardware.address
    gone = await talosctl("upgrade", "-n", address, "--image", "ghcr.io/siderolabs/installer:v1.14.0", fails=True)
    assert "NotFound" in gone
    far = NEXT.replace("v1.14.1", "v1.10.9")
    assert "is too far from v1.10.9" in await talosctl("upgrade", "-n", address, "--image", far, fails=True)
    assert cluster.events("boot", "cp2")[-1]["version"] == "v1.13.0"


async def test_etcd_can_be_looked_after(cluster: Lab, talosctl: Talosctl) -> None:
    assert "127." in await talosctl("etcd", "status")
    for command in (["alarm", "list"], ["alarm", "disarm"], ["defrag"], ["forfeit-leadership"]):
        await talosctl("etcd", *command)
    assert cluster.events("etcd-defragmented", "cp1")


async def test_kubeconfig_and_snapshot_are_files(talosctl: Talosctl, tmp_path: Path) -> None:
    await talosctl("kubeconfig", str(tmp_path / "kubeconfig"))
    assert "admin@demo" in (tmp_path / "kubeconfig").read_text()
    assert "snapshot info" in await talosctl("etcd", "snapshot", str(tmp_path / "snapshot"))


async def test_a_control_plane_leaves_and_is_reset(cluster: Lab, talosctl: Talosctl) -> None:
    machine, address = cluster.named("cp3"), cluster.named("cp3").hardware.address
    await until(lambda: all_healthy(cluster), "every member is connected")
    await talosctl("etcd", "leave", "-n", address)
    assert " cp3 " not in await talosctl("etcd", "members")
    said = await talosctl("reset", "-n", address, "--graceful=false", "--reboot", "--timeout", "60s")
    assert "post check passed" in said
    await until(lambda: machine.session and machine.session.stage == "maintenance", "maintenance")
    assert cluster.journal.violations() == []
