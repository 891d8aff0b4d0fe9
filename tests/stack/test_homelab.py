"""The homelab stack on a simulated Proxmox VE, under its own addresses."""

import json
from collections.abc import Iterator

import pytest
import yaml

from tests.stack.rehearsal import Json, Rehearsal, name_of
from tests.stack.resetting import reset

pytestmark = pytest.mark.stack

EXTRA_CONTROL_PLANES = [
    {
        "name": f"talos-controlplane-0{n}",
        "role": "controlplane",
        "address": f"192.168.1.1{n}4",
        "cores": 2,
        "memory": 4096,
    }
    for n in (2, 3)
]


@pytest.fixture(scope="module")
def homelab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    rehearsal = Rehearsal(tmp_path_factory.mktemp("homelab"), "homelab")
    rehearsal.start()
    try:
        rehearsal.up()
        yield rehearsal
    finally:
        rehearsal.down()


def inputs(rehearsal: Rehearsal, kind: str) -> dict[str, Json]:
    """Return the inputs of all resources of a kind, by resource name."""
    found = (resource for resource in rehearsal.state() if resource["type"].endswith(f":{kind}"))
    return {name_of(resource["urn"]).split(maxsplit=1)[1]: resource["inputs"] for resource in found}


def configurations(rehearsal: Rehearsal) -> dict[str, str]:
    """Return the applied machine configurations by node."""
    state = rehearsal.state(show_secrets=True)
    return {
        name_of(resource["urn"]).split()[1]: json.loads(resource["inputs"]["machineConfigurationInput"]["plaintext"])
        for resource in state
        if resource["type"].endswith(":ConfigurationApply")
    }


def test_every_vm_has_the_shape_that_talos_needs(homelab: Rehearsal) -> None:
    machines = inputs(homelab, "VmLegacy")
    assert {name: vm["memory"] for name, vm in machines.items()} == {
        "talos-controlplane-01": {"dedicated": 8192, "floating": 0},
        "talos-worker-01": {"dedicated": 8192, "floating": 0},
        "talos-gpu-01": {"dedicated": 12288, "floating": 0},
    }
    for name, vm in machines.items():
        assert (vm["machine"], vm["bios"]) == ("q35", "ovmf")
        assert vm["efiDisk"] == {"datastoreId": "local-lvm", "type": "4m", "preEnrolledKeys": False}
        assert vm["cpu"]["type"] == "x86-64-v2-AES"
        assert vm["agent"]["enabled"] is True and vm["stopOnDestroy"] is False
        assert {key: vm["disks"][0][key] for key in ("discard", "ssd", "iothread")} == {
            "discard": "on",
            "ssd": True,
            "iothread": True,
        }
        address = vm["initialization"]["ipConfigs"][0]["ipv4"]["address"]
        assert vm["vmId"] == int(address.split("/")[0].split(".")[3]), name


def test_only_the_gpu_node_has_the_device_the_modules_and_its_own_image(homelab: Rehearsal) -> None:
    machines = inputs(homelab, "VmLegacy")
    devices = {name: vm.get("hostpcis", []) for name, vm in machines.items()}
    assert devices.pop("talos-gpu-01") == [
        {"device": "hostpci0", "mapping": "gpu0", "pcie": True, "rombar": True, "xvga": False}
    ]
    assert not any(devices.values())
    with_modules = {name for name, text in configurations(homelab).items() if "nvidia" in text}
    assert with_modules == {"talos-gpu-01"}
    assert len(inputs(homelab, "File")) == 2, "one image for each distinct schematic"


def test_an_image_is_a_qcow2_named_after_version_and_schematic(homelab: Rehearsal) -> None:
    for image in inputs(homelab, "File").values():
        assert image["contentType"] == "import"
        schematic = image["url"].split("/")[4]
        assert image["fileName"] == f"talos-v1.13.9-{schematic[:8]}-nocloud-amd64.qcow2"


def test_the_interface_is_declared_whole_with_the_vip_on_the_control_plane_only(homelab: Rehearsal) -> None:
    documents = {name: list(yaml.safe_load_all(text)) for name, text in configurations(homelab).items()}
    for name, found in documents.items():
        interface = found[0]["machine"]["network"]["interfaces"][0]
        assert interface["addresses"] == [f"{homelab.node(name)['address']}/24"]
        assert interface["routes"] == [{"network": "0.0.0.0/0", "gateway": "192.168.1.1"}]
        assert ("vip" in interface) is (name == "talos-controlplane-01")


def test_another_run_and_a_refresh_change_nothing(homelab: Rehearsal) -> None:
    assert homelab.steps() == {}
    homelab.pulumi("refresh", "--yes", "--non-interactive")
    assert homelab.steps() == {}


def test_a_new_talos_version_replaces_no_vm(homelab: Rehearsal) -> None:
    homelab.topology["versions"]["talos"] = "v1.13.8"
    homelab.save()
    steps = homelab.steps()
    homelab.topology["versions"]["talos"] = "v1.13.9"
    homelab.save()
    assert not [name for name, op in steps.items() if "replace" in op]
    assert not [name for name in steps if name.startswith("VmLegacy")]


@pytest.mark.parametrize("variable", ["PROXMOX_VE_ENDPOINT", "PROXMOX_VE_API_TOKEN"])
def test_a_variable_that_contradicts_the_stack_is_named_without_its_value(
    homelab: Rehearsal, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "https://elsewhere.example.net:8006")
    output = homelab.pulumi("preview", "--non-interactive", fails=True)
    assert f"the environment variable {variable} contradicts the stack file" in output
    assert "elsewhere" not in output and "Traceback" not in output


def test_a_worker_may_join_and_another_change_in_the_same_run(homelab: Rehearsal) -> None:
    homelab.topology["nodes"].append(
        {"name": "talos-worker-02", "role": "worker", "address": "192.168.1.132", "cores": 2, "memory": 4096}
    )
    homelab.node("talos-worker-01")["memory"] += 1024
    homelab.save()
    homelab.up()
    assert "talos-worker-02" in {entry["machine"] for entry in homelab.journal("kubelet-joined")}


def test_a_replaced_vm_gets_its_configuration_again(homelab: Rehearsal) -> None:
    homelab.node("talos-worker-01")["vmId"] = 500
    homelab.save()
    steps = homelab.steps()
    assert "replace" in steps["VmLegacy talos-worker-01"]
    assert "replace" in steps["ConfigurationApply talos-worker-01"]
    before = len(homelab.journal("configuration"))
    homelab.up()
    assert [entry["machine"] for entry in homelab.journal("configuration")[before:]] == ["talos-worker-01"]
    assert homelab.steps() == {}


def test_the_vm_of_a_control_plane_is_neither_replaced_nor_deleted_unasked(homelab: Rehearsal) -> None:
    homelab.node("talos-controlplane-01")["vmId"] = 501
    homelab.save()
    output = homelab.pulumi("preview", "--non-interactive", fails=True)
    del homelab.node("talos-controlplane-01")["vmId"]
    homelab.save()
    assert "talos-controlplane-01" in output and "protect" in output


def test_another_address_is_refused_because_the_vm_keeps_the_old_one(homelab: Rehearsal) -> None:
    homelab.node("talos-worker-01")["address"] = "192.168.1.199"
    homelab.save()
    output = homelab.pulumi("preview", "--non-interactive", fails=True)
    homelab.node("talos-worker-01")["address"] = "192.168.1.122"
    homelab.save()
    assert "nodes[1].address: 192.168.1.199 is not where talos-worker-01 lives (192.168.1.122)" in output
    assert "its cloud-init drive keeps the old one" in output
    assert homelab.steps() == {}


def test_a_worker_that_leaves_takes_its_vm_along_and_that_is_said(homelab: Rehearsal) -> None:
    homelab.topology["nodes"].remove(homelab.node("talos-worker-02"))
    homelab.save()
    said = homelab.pulumi("preview", "--non-interactive")
    assert "talos-worker-02 (192.168.1.132) is no longer among them: its VM is deleted" in said
    homelab.up()
    assert "talos-worker-02" not in inputs(homelab, "VmLegacy")
    assert homelab.steps() == {}


def test_machines_of_control_planes_change_one_at_a_time(homelab: Rehearsal) -> None:
    homelab.topology["nodes"] += EXTRA_CONTROL_PLANES
    homelab.save()
    homelab.up()
    for node in homelab.topology["nodes"]:
        node["memory"] += 1024
    homelab.save()
    before = len(homelab.journal())
    homelab.up()
    seen = homelab.journal()[before:]
    reboots = [entry["machine"] for entry in seen if entry["event"] == "boot" and "controlplane" in entry["machine"]]
    assert len(reboots) == 3
    assert homelab.journal("violation") == []


def test_a_control_plane_is_retired_with_its_vm(homelab: Rehearsal) -> None:
    name = "talos-controlplane-03"
    reset(homelab, name)
    homelab.forget(name)
    vm = next(each["urn"] for each in homelab.state() if each["urn"].endswith(f":VmLegacy::{name}"))
    homelab.pulumi("state", "unprotect", "--yes", vm)
    homelab.topology["nodes"].remove(homelab.node(name))
    homelab.save()
    homelab.up()
    assert name not in inputs(homelab, "VmLegacy")
    assert homelab.steps() == {} and homelab.journal("violation") == []


def test_destroy_is_refused_before_anything_is_deleted_and_once_unprotected_ends_clean(homelab: Rehearsal) -> None:
    before, machines = [each["urn"] for each in homelab.state()], len(homelab.journal("power-off"))
    output = homelab.pulumi("destroy", "--yes", "--skip-preview", "--non-interactive", fails=True)
    assert "protect" in output
    assert [each["urn"] for each in homelab.state()] == before and len(homelab.journal("power-off")) == machines
    homelab.pulumi("state", "unprotect", "--all", "--yes")
    homelab.pulumi("destroy", "--yes", "--skip-preview", "--non-interactive")
    assert homelab.state() == []
