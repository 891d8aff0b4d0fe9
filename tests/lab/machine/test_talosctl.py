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

TALOSCTL = shutil.which("talosctl")
pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not TALOSCTL, reason="talosctl is not on PATH"),
]
Talosctl = Callable[..., Awaitable[str]]


@pytest_asyncio.fixture(loop_scope="module")
async def talosctl(cluster: Lab, tmp_path: Path) -> AsyncIterator[Talosctl]:
    """Run talosctl with a talosconfig for the cluster and return what it prints; it must succeed."""
    first = cluster.named("cp1").hardware.address
    client = client_certificate(cluster.secrets.os)
    config = tmp_path / "talosconfig"
    config.write_text(talosconfig("demo", cluster.secrets.os.crt, client, [first], [first]))

    async def run(*arguments: str) -> str:
        command = [str(TALOSCTL), "--talosconfig", str(config), *arguments]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=asyncio.subprocess.STDOUT)
        output, _ = await asyncio.wait_for(process.communicate(), 90)
        assert process.returncode == 0, output.decode()
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
    worker = cluster.named("w1").hardware.address
    assert "post check passed" in await talosctl("reboot", "-n", worker, "--wait", "--timeout", "60s")
    image = "ghcr.io/siderolabs/installer:v1.13.9"
    assert "node uncordoned" in await talosctl("upgrade", "-n", worker, "--image", image, "--timeout", "60s")
    assert cluster.named("w1").version == "v1.13.9"


async def test_kubeconfig_and_snapshot_are_files(talosctl: Talosctl, tmp_path: Path) -> None:
    await talosctl("kubeconfig", str(tmp_path / "kubeconfig"))
    assert "admin@demo" in (tmp_path / "kubeconfig").read_text()
    assert "snapshot info" in await talosctl("etcd", "snapshot", str(tmp_path / "snapshot"))
