"""Images that Proxmox VE fetches: only what a virtual machine can boot."""

from pathlib import Path
from typing import Any

import pytest

from lab.standin.proxmoxve import storage
from tests.lab.standin.plugin import Plugin
from tests.lab.standin.proxmox import FILE, VM, World, failing, image, machine


async def test_a_disk_image_that_nothing_downloaded_is_refused(proxmox: Plugin, world: World) -> None:
    told = await failing(proxmox.create(VM, machine()))
    assert "volume 'local:import/nocloud-amd64.qcow2' does not exist on node pve" in told
    assert world.asked == []


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
    proxmox: Plugin, factory: str, changes: dict[str, Any], path: str
) -> None:
    form = changes.pop("form", "qcow2")
    _, failures = await proxmox.check(FILE, image(factory, form, **changes))
    assert [failure[0] for failure in failures] == [path]


async def test_a_download_must_be_what_its_name_says(proxmox: Plugin, factory: str) -> None:
    told = await failing(proxmox.create(FILE, image(factory, "raw.zst", fileName="a.raw")))
    assert "the file is zst, but no decompressionAlgorithm is given" in told
    told = await failing(proxmox.create(FILE, image(factory, "qcow2", fileName="a.raw")))
    assert "does not begin like a .raw file" in told
    packed = image(factory, "raw.zst", fileName="a.raw", decompressionAlgorithm="zst")
    assert (await proxmox.create(FILE, packed))[0] == "local:import/a.raw"
    assert "already exists" in await failing(proxmox.create(FILE, packed))


async def test_a_file_on_storage_that_hosts_share_is_there_for_all_and_downloaded_once(
    proxmox: Plugin, factory: str
) -> None:
    await proxmox.create(FILE, image(factory, datastoreId="nfs"))
    told = await failing(proxmox.create(FILE, image(factory, datastoreId="nfs", nodeName="pve2")))
    assert "file already exists in the datastore: nfs:import/nocloud-amd64.qcow2" in told
    disks = [{"interface": "scsi0", "size": 40, "importFrom": "nfs:import/nocloud-amd64.qcow2"}]
    await proxmox.create(VM, machine(nodeName="pve2", disks=disks))


async def test_a_file_on_storage_of_one_host_is_not_there_for_another(proxmox: Plugin, factory: str) -> None:
    await proxmox.create(FILE, image(factory))
    told = await failing(proxmox.create(VM, machine(nodeName="pve2")))
    assert "volume 'local:import/nocloud-amd64.qcow2' does not exist on node pve2" in told
    await proxmox.create(FILE, image(factory, nodeName="pve2"))


@pytest.mark.parametrize(
    ("datastore", "shared"),
    [("tank", True), ("ceph-images", True), ("local", False), ("local-zfs", False), ("ssd", False)],
)
def test_hosts_share_what_its_name_or_the_stack_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, datastore: str, shared: bool
) -> None:
    (tmp_path / "mine" / "project").mkdir(parents=True)
    (tmp_path / "mine" / "project" / "Pulumi.mine.yaml").write_text(
        "config: {'talos-stacks:cluster': {platform: {kind: proxmox, sharedDatastores: [tank, local]}}}\n"
    )
    monkeypatch.setenv("LAB_HOME", str(tmp_path))
    monkeypatch.setenv("LAB_STACK", "mine")
    assert storage.is_shared(datastore) == shared
