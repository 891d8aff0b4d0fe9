"""The pretended Proxmox VE makes machines, and refuses what the real one refuses."""

import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import pytest

from lab.standin.proxmoxve.provider import Proxmoxve
from lab.standin.proxmoxve.store import Store
from lab.standin.values import UNKNOWN
from tests.lab.standin.plugin import Plugin, served

VM, FILE = "proxmoxve:index/vmLegacy:VmLegacy", "proxmoxve:download/file:File"
POOL, PCI = "proxmoxve:index/poolLegacy:PoolLegacy", "proxmoxve:hardware/mapping/pci:Pci"
TOKEN = "root@pam!talos=4d46348e-69fd-4d16-9dc3-9d67ce5e1f09"
SCHEMATIC = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
CONTENT = {"qcow2": b"QFI\xfb" + bytes(600), "raw.xz": b"\xfd7zXZ\x00", "raw.zst": b"\x28\xb5\x2f\xfd" + bytes(9)}


class World:
    """Remembers what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.hardware: dict[str, Any] = {}

    async def create(self, hardware: Mapping[str, Any]) -> None:
        self.hardware = dict(hardware)
        self.asked.append(("create", hardware["name"]))

    async def delete(self, uuid: str) -> None:
        self.asked.append(("delete", uuid))

    async def power(self, uuid: str, state: str) -> None:
        self.asked.append(("power", uuid, state))


class Images(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content = CONTENT[self.path.rpartition("amd64.")[2]]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def factory() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Images)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def plugin(tmp_path: Path, world: World) -> AsyncIterator[Plugin]:
    async with served(Proxmoxve(Store(tmp_path / "proxmox.json"), world)) as plugin:
        await plugin.configure(endpoint="https://pve:8006", apiToken=TOKEN, insecure="true")
        yield plugin


def image(factory: str, form: str = "qcow2", **changes: Any) -> dict[str, Any]:
    url = f"{factory}/image/{SCHEMATIC}/v1.13.9/nocloud-amd64.{form}"
    return {"contentType": "import", "datastoreId": "local", "nodeName": "pve", "url": url} | changes


def machine(**changes: Any) -> dict[str, Any]:
    return {
        "name": "talos-worker-01",
        "nodeName": "pve",
        "vmId": 122,
        "bios": "ovmf",
        "machine": "q35",
        "efiDisk": {"datastoreId": "local-lvm", "type": "4m"},
        "cpu": {"cores": 4, "type": "x86-64-v2-AES"},
        "memory": {"dedicated": 8192},
        "disks": [{"interface": "scsi0", "size": 40, "importFrom": "local:import/nocloud-amd64.qcow2"}],
        "networkDevices": [{"bridge": "vmbr0"}],
        "initialization": {"ipConfigs": [{"ipv4": {"address": "192.168.1.122/24", "gateway": "192.168.1.1"}}]},
    } | changes


async def failing(call: Any) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return str(caught.value.details())


async def with_image(plugin: Plugin, factory: str) -> None:
    await plugin.create(FILE, image(factory))


async def test_a_started_machine_boots_at_the_address_of_its_cloud_init_drive(
    plugin: Plugin, world: World, factory: str
) -> None:
    await with_image(plugin, factory)
    inputs, failures = await plugin.check(VM, machine())
    assert failures == []
    identity, state = await plugin.create(VM, inputs)
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
    await plugin.delete(VM, identity, state)
    assert world.asked == [("create", "talos-worker-01"), ("delete", world.hardware["uuid"])]


async def test_preview_knows_everything_but_what_proxmox_chooses(plugin: Plugin, world: World) -> None:
    _, planned = await plugin.create(VM, machine(), preview=True)
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
    plugin: Plugin, world: World, factory: str, change: dict[str, Any], asked: str | None
) -> None:
    await with_image(plugin, factory)
    identity, state = await plugin.create(VM, machine())
    news = machine(**change)
    assert list((await plugin.diff(VM, state, news)).replaces) == []
    await plugin.update(VM, identity, state, news)
    assert world.asked[1:] == ([("power", world.hardware["uuid"], asked)] if asked else [])


async def test_a_changed_number_or_host_replaces_and_an_unchanged_machine_does_not(
    plugin: Plugin, factory: str
) -> None:
    await with_image(plugin, factory)
    _, state = await plugin.create(VM, machine())
    assert list((await plugin.diff(VM, state, machine())).diffs) == []
    assert list((await plugin.diff(VM, state, machine(vmId=130))).replaces) == ["vmId"]
    assert list((await plugin.diff(VM, state, machine(nodeName="pve2"))).replaces) == ["nodeName"]


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
async def test_check_names_what_proxmox_would_refuse(plugin: Plugin, change: dict[str, Any], path: str) -> None:
    _, failures = await plugin.check(VM, machine(**change))
    assert [failure[0] for failure in failures] == [path]


async def test_ovmf_without_an_efi_disk_is_refused(plugin: Plugin) -> None:
    inputs = machine()
    del inputs["efiDisk"]
    assert [failure[0] for failure in (await plugin.check(VM, inputs))[1]] == ["efiDisk"]


async def test_a_number_that_is_taken_is_refused(plugin: Plugin, factory: str) -> None:
    await with_image(plugin, factory)
    await plugin.create(VM, machine())
    told = await failing(plugin.create(VM, machine(name="other")))
    assert "VM 122 already exists on node 'pve'" in told


async def test_a_disk_image_that_nothing_downloaded_is_refused(plugin: Plugin, world: World) -> None:
    told = await failing(plugin.create(VM, machine()))
    assert "volume 'local:import/nocloud-amd64.qcow2' does not exist on node pve" in told
    assert world.asked == []


async def test_a_raw_pci_id_needs_root_and_a_mapping_serves_one_machine(plugin: Plugin, factory: str) -> None:
    await with_image(plugin, factory)
    raw = [{"device": "hostpci0", "id": "0000:01:00.0", "pcie": True}]
    assert "only root can set 'hostpci0' config" in await failing(plugin.create(VM, machine(hostpcis=raw)))
    mapped = [{"device": "hostpci0", "mapping": "gpu0", "pcie": True}]
    await plugin.create(VM, machine(hostpcis=mapped))
    told = await failing(plugin.create(VM, machine(hostpcis=mapped, vmId=123, name="second")))
    assert "PCI mapping 'gpu0' has no free device" in told


async def test_a_pool_must_exist_and_be_empty_to_go(plugin: Plugin, factory: str) -> None:
    await with_image(plugin, factory)
    assert "pool 'talos' does not exist" in await failing(plugin.create(VM, machine(poolId="talos")))
    identity, pool = await plugin.create(POOL, {"poolId": "talos"})
    number, vm = await plugin.create(VM, machine(poolId="talos"))
    assert "is not empty" in await failing(plugin.delete(POOL, identity, pool))
    await plugin.delete(VM, number, vm)
    await plugin.delete(POOL, identity, pool)


async def test_talos_does_not_come_up_on_an_old_cpu_type(plugin: Plugin, world: World, factory: str) -> None:
    await with_image(plugin, factory)
    await plugin.create(VM, machine(cpu={"cores": 2}))
    assert world.asked == []
    assert "Talos halts on CPU type qemu64" in plugin.warnings[0]


async def test_a_disk_does_not_shrink(plugin: Plugin, factory: str) -> None:
    await with_image(plugin, factory)
    identity, state = await plugin.create(VM, machine())
    news = machine(disks=[{"interface": "scsi0", "size": 20, "importFrom": "local:import/nocloud-amd64.qcow2"}])
    assert "cannot shrink from 40 to 20 GiB" in await failing(plugin.update(VM, identity, state, news))


async def test_state_outlives_the_plugin_process(tmp_path: Path, world: World, factory: str) -> None:
    for _ in range(2):
        async with served(Proxmoxve(Store(tmp_path / "proxmox.json"), world)) as plugin:
            await plugin.configure(endpoint="https://pve:8006", apiToken=TOKEN)
            answer = await plugin.read(POOL, "talos", {"poolId": "talos"})
            if not answer.id:
                await plugin.create(POOL, {"poolId": "talos"})
    assert answer.id == "talos"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"form": "raw.xz", "fileName": "a.raw"}, "url"),
        ({"contentType": "iso"}, "fileName"),
        ({"contentType": "images"}, "contentType"),
        ({"decompressionAlgorithm": "xz"}, "decompressionAlgorithm"),
        ({"checksum": "00"}, "checksum"),
    ],
)
async def test_a_download_that_proxmox_cannot_use_is_refused(
    plugin: Plugin, factory: str, changes: dict[str, Any], path: str
) -> None:
    form = changes.pop("form", "qcow2")
    _, failures = await plugin.check(FILE, image(factory, form, **changes))
    assert [failure[0] for failure in failures] == [path]


async def test_a_download_must_be_what_its_name_says(plugin: Plugin, factory: str) -> None:
    told = await failing(plugin.create(FILE, image(factory, "raw.zst", fileName="a.raw")))
    assert "the file is zst, but no decompressionAlgorithm is given" in told
    told = await failing(plugin.create(FILE, image(factory, "qcow2", fileName="a.raw")))
    assert "does not begin like a .raw file" in told
    packed = image(factory, "raw.zst", fileName="a.raw", decompressionAlgorithm="zst")
    assert (await plugin.create(FILE, packed))[0] == "local:import/a.raw"
    assert "already exists" in await failing(plugin.create(FILE, packed))


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
    plugin: Plugin, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], told: str
) -> None:
    for name in ("ENDPOINT", "API_TOKEN", "USERNAME", "PASSWORD"):
        monkeypatch.delenv(f"PROXMOX_VE_{name}", raising=False)
    failures = await plugin.check_config(**given)
    assert [told in reason for _, reason in failures] == [True]
    assert "secret-without-form" not in str(failures)


async def test_a_wrong_token_is_answered_401(plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_PROXMOX_TOKEN", TOKEN.replace("4d", "5d"))
    told = await failing(plugin.create(POOL, {"poolId": "talos"}))
    assert "HTTP 401" in told
    assert "4d46348e" not in told


async def test_a_resource_that_is_not_simulated_says_so(plugin: Plugin) -> None:
    told = await failing(plugin.check("proxmoxve:index/vm:Vm", {}))
    assert "proxmoxve:index/vm:Vm is not simulated here" in told
