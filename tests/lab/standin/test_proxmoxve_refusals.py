"""The pretended Proxmox VE refuses what the real one refuses."""

from typing import Any

import pytest

from tests.lab.standin.plugin import Plugin
from tests.lab.standin.proxmox import FILE, PCI, POOL, TOKEN, VM, failing, image, machine, with_image


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"cpu": {"type": "host-passthrough"}}, "cpu.type"),
        ({"memory": {"dedicated": 0}}, "memory.dedicated"),
        ({"vmId": 12}, "vmId"),
        ({"machine": "q36"}, "machine"),
        ({"machine": "pc", "hostpcis": [{"device": "hostpci0", "mapping": "gpu0", "pcie": True}]}, "hostpcis[0].pcie"),
        ({"hostpcis": [{"device": "gpu", "mapping": "gpu0"}]}, "hostpcis[0].device"),
        ({"hostpcis": [{"device": "hostpci0"}]}, "hostpcis[0]"),
        ({"disks": [{"interface": "scsi99"}]}, "disks[0].interface"),
        ({"disks": [{"interface": "scsi0"}, {"interface": "scsi0"}]}, "disks[1].interface"),
        ({"bios": "seabios"}, "efiDisk"),
        (
            {"initialization": {"ipConfigs": [{"ipv4": {"address": "10.0.0.1"}}]}},
            "initialization.ipConfigs[0].ipv4.address",
        ),
    ],
)
async def test_check_names_what_proxmox_would_refuse(proxmox: Plugin, change: dict[str, Any], path: str) -> None:
    _, failures = await proxmox.check(VM, machine(**change))
    assert [failure[0] for failure in failures] == [path]


async def test_ovmf_without_an_efi_disk_is_refused(proxmox: Plugin) -> None:
    inputs = machine()
    del inputs["efiDisk"]
    assert [failure[0] for failure in (await proxmox.check(VM, inputs))[1]] == ["efiDisk"]


async def test_a_number_that_is_taken_is_refused(proxmox: Plugin, factory: str) -> None:
    await with_image(proxmox, factory)
    await proxmox.create(VM, machine())
    told = await failing(proxmox.create(VM, machine(name="other")))
    assert "VM 122 already exists on node 'pve'" in told


async def test_a_raw_pci_id_needs_root_and_a_mapping_serves_one_machine(proxmox: Plugin, factory: str) -> None:
    await with_image(proxmox, factory)
    raw = [{"device": "hostpci0", "id": "0000:01:00.0", "pcie": True}]
    assert "only root can set 'hostpci0' config" in await failing(proxmox.create(VM, machine(hostpcis=raw)))
    mapped = [{"device": "hostpci0", "mapping": "gpu0", "pcie": True}]
    await proxmox.create(VM, machine(hostpcis=mapped))
    told = await failing(proxmox.create(VM, machine(hostpcis=mapped, vmId=123, name="second")))
    assert "PCI mapping 'gpu0' has no free device" in told


async def test_a_mapping_has_devices_on_each_host(proxmox: Plugin, factory: str) -> None:
    await with_image(proxmox, factory)
    await proxmox.create(FILE, image(factory, nodeName="pve2"))
    mapped = [{"device": "hostpci0", "mapping": "gpu0", "pcie": True}]
    await proxmox.create(VM, machine(hostpcis=mapped))
    await proxmox.create(VM, machine(hostpcis=mapped, vmId=123, name="second", nodeName="pve2"))
    told = await failing(proxmox.create(VM, machine(hostpcis=mapped, vmId=124, name="third", nodeName="pve2")))
    assert told.endswith("PCI mapping 'gpu0' has no free device on pve2 for VM third: second uses it")


async def test_a_mapping_has_as_many_devices_on_a_host_as_it_lists(proxmox: Plugin, factory: str) -> None:
    await with_image(proxmox, factory)
    device = {"id": "10de:2684", "path": "0000:01:00.0"}
    await proxmox.create(PCI, {"name": "gpu0", "maps": [device | {"node": "pve"}, device | {"node": "pve3"}]})
    two = [{"device": f"hostpci{index}", "mapping": "gpu0", "pcie": True} for index in range(2)]
    told = await failing(proxmox.create(VM, machine(hostpcis=two)))
    assert told.endswith("PCI mapping 'gpu0' has no free device on pve for VM talos-worker-01: it has too few there")
    await proxmox.create(FILE, image(factory, nodeName="pve2"))
    told = await failing(proxmox.create(VM, machine(hostpcis=two[:1], nodeName="pve2")))
    assert "no free device on pve2" in told
    await proxmox.create(VM, machine(hostpcis=two[:1]))


async def test_a_disk_does_not_shrink(proxmox: Plugin, factory: str) -> None:
    await with_image(proxmox, factory)
    identity, state = await proxmox.create(VM, machine())
    news = machine(disks=[{"interface": "scsi0", "size": 20, "importFrom": "local:import/nocloud-amd64.qcow2"}])
    assert "cannot shrink from 40 to 20 GiB" in await failing(proxmox.update(VM, identity, state, news))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"apiToken": TOKEN}, "you must specify the endpoint"),
        ({"endpoint": "http://pve:8006", "apiToken": TOKEN}, "a secure endpoint"),
        ({"endpoint": "https://pve:8006"}, "must provide either an API token"),
        ({"endpoint": "https://pve:8006", "apiToken": "secret-without-form"}, "must look like"),
        ({"endpoint": "https://pve:8006", "apiToken": TOKEN, "host": "pve"}, "unknown property host"),
    ],
)
async def test_a_configuration_that_leads_nowhere_is_refused(
    proxmox: Plugin, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], told: str
) -> None:
    for name in ("ENDPOINT", "API_TOKEN", "USERNAME", "PASSWORD"):
        monkeypatch.delenv(f"PROXMOX_VE_{name}", raising=False)
    failures = await proxmox.check_config(**given)
    assert [told in reason for _, reason in failures] == [True]
    assert "secret-without-form" not in str(failures)


async def test_a_wrong_token_is_answered_401(proxmox: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_PROXMOX_TOKEN", TOKEN.replace("4d", "5d"))
    told = await failing(proxmox.create(POOL, {"poolId": "talos"}))
    assert "HTTP 401" in told
    assert "4d46348e" not in told


async def test_a_resource_that_is_not_simulated_says_so(proxmox: Plugin) -> None:
    told = await failing(proxmox.check("proxmoxve:index/vm:Vm", {}))
    assert "proxmoxve:index/vm:Vm is not simulated here" in told
