"""Configurations for a machine that runs: modes, reboots, refusals."""

import asyncio
import json
import ssl
from pathlib import Path
from typing import Any

import pytest
from grpclib import GRPCError, Status

from lab.machine import Machine
from lab.machine.configuration import check, needs_reboot
from talosapi.gen.cosi_pb2 import GetRequest
from talosapi.gen.machine_pb2 import ApplyConfigurationRequest, UpgradeRequest
from tests.lab.machine.lab import Lab, Mode, until
from tests.lab.machine.test_life import up

SYSCTL = "machine:\n  sysctls:\n    net.core.somaxconn: '65535'\n"
FILE = "machine:\n  files:\n  - path: /var/lib/x\n    content: hello\n    permissions: 0o644\n    op: create\n"
VOLUME = """\
apiVersion: v1alpha1
kind: UserVolumeConfig
name: data
provisioning:
  diskSelector:
    match: '!system_disk'
  minSize: 1GiB
"""


@pytest.mark.parametrize(
    ("patch", "paths"),
    [
        (SYSCTL, ()),
        ("cluster:\n  allowSchedulingOnControlPlanes: true\n", ()),
        ("machine:\n  nodeLabels:\n    a: b\n", ()),
        ("machine:\n  kubelet:\n    extraArgs:\n      v: '2'\n", ()),
        ("machine:\n  features:\n    kubePrism:\n      port: 7446\n", ()),
        (VOLUME, ()),
        (FILE, (".machine.files",)),
        ("machine:\n  udev:\n    rules: ['a']\n", (".machine.udev",)),
        ("machine:\n  features:\n    diskQuotaSupport: false\n", (".machine.features.diskQuotaSupport",)),
    ],
)
def test_only_what_talos_cannot_change_while_it_runs_needs_a_reboot(
    tmp_path: Path, patch: str, paths: tuple[str, ...]
) -> None:
    lab = Lab(tmp_path)
    before, _ = check(lab.configuration("a"))
    after = check(lab.configuration("a", "controlplane", patch))[0]
    assert needs_reboot(before, after) == paths
    assert needs_reboot(before, before) == ()


def test_another_machine_type_needs_a_reboot(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    before, after = (check(lab.configuration("a", role))[0] for role in ("controlplane", "worker"))
    assert ".machine.type" in needs_reboot(before, after)


async def rebooted(lab: Lab, machine: Machine) -> None:
    boots = len(lab.events("boot"))
    await until(lambda: len(lab.events("boot")) > boots and machine.session and machine.session.cri, "a reboot")


async def test_auto_changes_at_once_what_it_can(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    session = machine.session
    answer = await lab.apply(machine, lab.configuration("a", "controlplane", SYSCTL))
    assert (answer.mode, answer.mode_details) == (Mode.NO_REBOOT, "Applied configuration without a reboot")
    assert machine.session is session
    assert "somaxconn" in str(machine.disk.configuration)


async def test_auto_reboots_for_the_rest_and_takes_nothing_meanwhile(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    with lab.clock.held():
        answer = await lab.apply(machine, lab.configuration("a", "controlplane", FILE))
        assert answer.mode == Mode.REBOOT
        assert "diff: .machine.files" in answer.mode_details
        with pytest.raises(GRPCError, match="node is rebooting") as error:
            await lab.apply(machine, lab.configuration("a"))
    assert error.value.status is Status.FAILED_PRECONDITION
    await rebooted(lab, machine)
    assert "/var/lib/x" in str(machine.session and machine.session.text)


@pytest.mark.parametrize("mode", [Mode.NO_REBOOT, Mode.TRY])
async def test_a_mode_without_a_reboot_refuses_what_needs_one(lab: Lab, mode: int) -> None:
    machine = await up(lab, "a", 11)
    with pytest.raises(GRPCError, match="can't be applied in immediate mode") as error:
        await lab.apply(machine, lab.configuration("a", "controlplane", FILE), mode)
    assert error.value.status is Status.INVALID_ARGUMENT
    assert "hello" not in str(error.value.message)


async def test_a_staged_configuration_is_taken_at_the_next_boot_even_after_a_power_cut(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    before = machine.session and machine.session.text
    answer = await lab.apply(machine, lab.configuration("a", "controlplane", SYSCTL), Mode.STAGED)
    assert answer.mode_details == "Staged configuration to be applied after the next reboot"
    assert machine.session and machine.session.text == before
    await machine.power_off()
    await machine.power_on()
    await until(lambda: machine.session and machine.session.cri, "it runs again")
    assert "somaxconn" in str(machine.session.text)


async def test_a_tried_configuration_is_taken_back_and_never_on_the_disk(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    request = ApplyConfigurationRequest(data=lab.configuration("a", "controlplane", SYSCTL).encode(), mode=Mode.TRY)
    request.try_mode_timeout.FromSeconds(100)
    await lab.call(machine, "ApplyConfiguration", request)
    assert machine.session and "somaxconn" in str(machine.session.text)
    assert "somaxconn" not in str(machine.disk.configuration)
    await until(lambda: lab.events("configuration-taken-back"), "taken back")
    assert "somaxconn" not in str(machine.session.text)


async def test_a_change_that_comes_during_the_installation_is_installed(lab: Lab) -> None:
    machine = await lab.in_maintenance("a", 11)
    with lab.clock.held():
        await lab.apply(machine, lab.configuration("a"))
        await until(lambda: lab.events("install") and machine.session and machine.session.api_port.relay, "it installs")
        await until(lambda: lab.answers(machine), "its API during the installation")
        await lab.apply(machine, lab.configuration("a", "controlplane", FILE))
    await until(lambda: machine.session and machine.session.cri, "it runs")
    assert "/var/lib/x" in str(machine.session and machine.session.text)


async def test_documents_without_the_main_one_are_refused(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    with pytest.raises(GRPCError, match="doesn't contain v1alpha1 config"):
        await lab.apply(machine, VOLUME)


async def test_a_full_disk_takes_no_configuration_and_no_installation(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    lab.faults.set("a", "full-disk")
    with pytest.raises(GRPCError, match="no space left on device"):
        await lab.apply(machine, lab.configuration("a", "controlplane", SYSCTL))
    other = await lab.in_maintenance("b", 12)
    lab.faults.set("b", "full-disk")
    await lab.apply(other, lab.configuration("b"))
    await until(lambda: lab.events("install-failed"), "the installation fails")
    await until(lambda: len(lab.events("maintenance", "b")) == 2, "maintenance again")


async def test_another_name_in_the_certificate_is_there_without_a_reboot(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    extra = f"{lab.network}.77"
    await lab.apply(machine, lab.configuration("a", "controlplane", f"machine:\n  certSANs: ['{extra}']\n"))

    async def named() -> bool:

        context = lab.admin()
        try:
            _, writer = await asyncio.open_connection(
                machine.hardware.address, 50000, ssl=context, server_hostname=extra
            )
        except (ssl.SSLError, OSError):
            return False
        writer.close()
        return True

    await until(named, "a certificate with the new name")


async def of_version(lab: Lab, version: str, role: str = "controlplane") -> Machine:
    return await up(lab, "a", 11, role, platform="nocloud", talos_version=version)


async def test_from_1_14_on_nothing_reboots_by_itself(lab: Lab) -> None:
    machine = await of_version(lab, "v1.14.1")
    session, changed = machine.session, lab.configuration("a", "controlplane", FILE)
    for mode in (Mode.AUTO, Mode.NO_REBOOT):
        assert (await lab.apply(machine, changed, mode, dry_run=True)).mode == Mode.NO_REBOOT
        assert (await lab.apply(machine, changed, mode)).mode == Mode.NO_REBOOT
    with pytest.raises(GRPCError, match="no longer supported") as error:
        await lab.apply(machine, changed, Mode.REBOOT)
    assert error.value.status is Status.UNIMPLEMENTED
    assert machine.session is session and session and "/var/lib/x" in str(session.text)


async def test_a_dry_run_keeps_what_is_tried(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    with lab.clock.held():
        await lab.apply(machine, lab.configuration("a", "controlplane", SYSCTL), Mode.TRY)
        await lab.apply(machine, lab.configuration("a"), dry_run=True)
    await lab.clock.sleep(90)
    assert lab.events("configuration-taken-back") == []
    assert machine.session and "somaxconn" in str(machine.session.text)
    assert "somaxconn" not in str(machine.disk.configuration)


@pytest.mark.parametrize(
    ("path", "image"),
    [
        ("machine.kubelet", "ghcr.io/siderolabs/kubelet:v1.36.0"),
        ("cluster.apiServer", "registry.k8s.io/kube-apiserver:v1.29.1"),
        ("cluster.scheduler", f"registry.k8s.io/kube-scheduler@sha256:{'0' * 64}"),
    ],
)
async def test_a_kubernetes_that_this_talos_does_not_run_is_refused(lab: Lab, path: str, image: str) -> None:
    machine = await of_version(lab, "v1.12.4")
    section, key = path.split(".")
    patch = f"{section}:\n  {key}:\n    image: {image}\n"
    with pytest.raises(GRPCError, match=rf"{path}\.image") as error:
        await lab.apply(machine, lab.configuration("a", "controlplane", patch))
    assert error.value.status is Status.INVALID_ARGUMENT


BLACKHOLE = "apiVersion: v1alpha1\nkind: BlackholeRouteConfig\nname: 10.9.0.0/16\n"


async def test_a_kind_that_this_talos_does_not_know_is_refused(lab: Lab) -> None:
    machine = await of_version(lab, "v1.12.4")
    with pytest.raises(GRPCError, match="BlackholeRouteConfig") as error:
        await lab.apply(machine, lab.configuration("a", "controlplane", BLACKHOLE))
    assert error.value.status is Status.INVALID_ARGUMENT


async def test_a_version_that_cannot_read_the_configuration_on_the_disk_does_not_boot(lab: Lab) -> None:
    machine = await of_version(lab, "v1.13.2")
    await lab.apply(machine, lab.configuration("a", "controlplane", BLACKHOLE))
    older = UpgradeRequest(image="ghcr.io/siderolabs/installer:v1.12.4", force=True)
    await lab.call(machine, "MachineService/Upgrade", older)
    await until(lambda: lab.events("fatal"), "it does not boot")
    assert "cannot be read" in lab.events("fatal")[0]["why"] and "BlackholeRouteConfig" in lab.events("fatal")[0]["why"]
    await until(lambda: machine.version == "v1.13.2" and machine.session and machine.session.cri, "it turned back")


async def test_another_kubelet_is_gone_for_a_moment_and_then_there(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    await until(lambda: machine.session and machine.session.kubelet.running, "its kubelet")
    assert (await shown(lab, machine, "Services.v1alpha1.talos.dev", "kubelet"))["healthy"]
    image = "ghcr.io/siderolabs/kubelet:v1.34.3"
    patch = f"machine:\n  kubelet:\n    image: {image}\n"
    with lab.clock.held():
        await lab.apply(machine, lab.configuration("a", "controlplane", patch))
        await until(lambda: machine.session and not machine.session.kubelet.running, "it stops")
        with pytest.raises(GRPCError, match="doesn't exist"):
            await shown(lab, machine, "Services.v1alpha1.talos.dev", "kubelet")
    await until(lambda: machine.session and machine.session.kubelet.running, "its kubelet again")
    assert (await shown(lab, machine, "KubeletSpecs.kubernetes.talos.dev", "kubelet"))["image"] == image


async def test_another_image_of_the_api_server_is_a_new_version_of_its_resource(lab: Lab) -> None:
    machine = await up(lab, "a", 11)
    request = GetRequest(namespace="controlplane", type="APIServerConfigs.kubernetes.talos.dev", id="kube-apiserver")
    versions = []
    for patch in ("1.35.0", "1.35.0", "1.34.3"):
        text = f"cluster:\n  apiServer:\n    image: registry.k8s.io/kube-apiserver:v{patch}\n"
        await lab.apply(machine, lab.configuration("a", "controlplane", text))
        versions.append(int((await lab.call(machine, "State/Get", request)).resource.metadata.version))
    assert versions == [1, 1, 2]


async def shown(lab: Lab, machine: Machine, kind: str, name: str) -> dict[str, Any]:
    """A resource as people see it."""
    namespace = "k8s" if "kubernetes" in kind else "runtime"
    answer = await lab.call(machine, "State/Get", GetRequest(namespace=namespace, type=kind, id=name))
    found: dict[str, Any] = json.loads(answer.resource.spec.yaml_spec)
    return found
