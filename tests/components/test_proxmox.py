"""What becomes of a stack on Proxmox VE."""

from typing import Any

from tests.components.mocked import registered
from tests.topology.stacks import valid

SECRETS = {"proxmoxApiToken": "root@pam!talos=4d46348e-69fd-4d16-9dc3-9d67ce5e1f09"}


def downloads(**platform: object) -> dict[str, str]:
    """Which host downloads which image, on a stack with nodes on three hosts."""

    def edit(raw: Any) -> None:
        raw["platform"] |= platform
        third = {"name": "worker-02", "role": "worker", "address": "192.168.1.132", "cores": 4, "memory": 8192}
        raw["nodes"] = [*raw["nodes"], third | {"host": "pve3"}]
        raw["nodes"][1]["host"] = "pve2"

    found = registered(valid(edit=edit), secrets=SECRETS)
    return {
        name.partition("-talos-")[0]: str(each["nodeName"]) for (kind, name), each in found.items() if kind == "File"
    }


def test_each_host_downloads_its_own_image() -> None:
    assert downloads(imageDatastore="local") == {"pve": "pve", "pve2": "pve2", "pve3": "pve3"}


def test_hosts_that_share_a_datastore_download_an_image_once() -> None:
    assert downloads(imageDatastore="nfs", sharedDatastores=["nfs"]) == {"nfs": "pve"}


def test_a_machine_has_a_tpm_where_it_is_asked_for() -> None:
    def edit(raw: Any) -> None:
        raw["nodes"][1]["tpm"] = True

    found = registered(valid(edit=edit), secrets=SECRETS)
    given = {name: each.get("tpmState") for (kind, name), each in found.items() if kind == "VmLegacy"}
    assert [each for each in given.values() if each] == [{"datastoreId": "local-lvm", "version": "v2.0"}]
