"""What the tests of the pretended Proxmox VE share: a world that remembers, an Image Factory, and inputs."""

from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

import grpc
import pytest

from tests.lab.standin.plugin import Plugin

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
        schematic = self.path.startswith("/schematics/")
        content = b"customization: {}\n" if schematic else CONTENT[self.path.rpartition("amd64.")[2]]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


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
