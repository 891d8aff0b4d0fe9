"""The pretended Proxmox VE makes machines and changes them as the real provider does."""

from pathlib import Path
from typing import Any

import pytest

from lab.standin.proxmoxve.provider import Proxmoxve
from lab.standin.proxmoxve.store import Store
from lab.standin.values import UNKNOWN
from tests.lab.standin.plugin import Plugin, served
from tests.lab.standin.proxmox import POOL, SCHEMATIC, TOKEN, VM, World, failing, machine, with_image


async def test_a_started_machine_boots_at_the_address_of_its_cloud_init_drive(
    proxmox: Plugin, world: World, factory: str
) -> None:
    await with_image(proxmox, factory)
    inputs, failures = await proxmox.check(VM, machine())
    assert failures == []
    identity, state = await proxmox.create(VM, inputs)
    assert identity == "122"
    assert state["macAddresses"][0].startswith("BC:24:11:")
    assert world.hardware["address"] == "192.168.1.122"
    assert world.hardware["platform"] == "nocloud"
    assert world.hardware["talos_version"] == "v1.13.9"
    assert world.hardware["schematic"] == SCHEMATIC
    assert world.hardware["memory"] == 8192
    assert world.hardware["disks"] == [
        {"name": "/dev/sda", "size": 40 * 1024**3, "model": "QEMU HARDDISK", "serial": ""}
    ]
    await proxmox.delete(VM, identity, state)
    assert world.asked == [("create", "talos-worker-01"), ("delete", world.hardware["uuid"])]


async def test_preview_knows_everything_but_what_proxmox_chooses(proxmox: Plugin, world: World) -> None:
    _, planned = await proxmox.create(VM, machine(), preview=True)
    assert planned["vmId"] == 122
    assert planned["started"] is True
    assert planned["macAddresses"] is UNKNOWN
    assert world.asked == []


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"memory": {"dedicated": 4096}}, "cycle"),
        ({"cpu": {"cores": 2, "type": "x86-64-v2-AES"}}, "cycle"),
        ({"tags": ["talos"]}, None),
        ({"disks": [{"interface": "scsi0", "size": 80, "importFrom": "local:import/nocloud-amd64.qcow2"}]}, None),
        ({"memory": {"dedicated": 4096}, "rebootAfterUpdate": False}, None),
        ({"started": False}, "off"),
    ],
)
async def test_a_change_reboots_where_the_real_provider_does(
    proxmox: Plugin, world: World, factory: str, change: dict[str, Any], asked: str | None
) -> None:
    await with_image(proxmox, factory)
    identity, state = await proxmox.create(VM, machine())
    news = machine(**change)
    assert list((await proxmox.diff(VM, state, news)).replaces) == []
    await proxmox.update(VM, identity, state, news)
    assert world.asked[1:] == ([("power", world.hardware["uuid"], asked)] if asked else [])


async def test_a_changed_number_or_host_replaces_and_an_unchanged_machine_does_not(
    proxmox: Plugin, factory: str
) -> None:
    await with_image(proxmox, factory)
    _, state = await proxmox.create(VM, machine())
    assert list((await proxmox.diff(VM, state, machine())).diffs) == []
    assert list((await proxmox.diff(VM, state, machine(vmId=130))).replaces) == ["vmId"]
    assert list((await proxmox.diff(VM, state, machine(nodeName="pve2"))).replaces) == ["nodeName"]


async def test_a_pool_must_exist_and_be_empty_to_go(proxmox: Plugin, factory: str) -> None:
    await with_image(proxmox, factory)
    assert "pool 'talos' does not exist" in await failing(proxmox.create(VM, machine(poolId="talos")))
    identity, pool = await proxmox.create(POOL, {"poolId": "talos"})
    number, vm = await proxmox.create(VM, machine(poolId="talos"))
    assert "is not empty" in await failing(proxmox.delete(POOL, identity, pool))
    await proxmox.delete(VM, number, vm)
    await proxmox.delete(POOL, identity, pool)


async def test_talos_does_not_come_up_on_an_old_cpu_type(proxmox: Plugin, world: World, factory: str) -> None:
    await with_image(proxmox, factory)
    await proxmox.create(VM, machine(cpu={"cores": 2}))
    assert world.asked == []
    assert "Talos halts on CPU type qemu64" in proxmox.warnings[0]


async def test_state_outlives_the_plugin_process(tmp_path: Path, world: World, factory: str) -> None:
    for _ in range(2):
        async with served(Proxmoxve(Store(tmp_path / "proxmox.json"), world)) as proxmox:
            await proxmox.configure(endpoint="https://pve:8006", apiToken=TOKEN)
            answer = await proxmox.read(POOL, "talos", {"poolId": "talos"})
            if not answer.id:
                await proxmox.create(POOL, {"poolId": "talos"})
    assert answer.id == "talos"


async def test_a_guest_agent_that_is_not_in_the_image_is_waited_for_in_vain(
    proxmox: Plugin, world: World, factory: str
) -> None:
    await with_image(proxmox, factory)
    _, state = await proxmox.create(VM, machine(agent={"enabled": True}))
    assert state["ipv4Addresses"] == []
    assert "the guest agent is enabled but not in the image" in proxmox.warnings[0]
    assert world.asked == [("create", "talos-worker-01")]
