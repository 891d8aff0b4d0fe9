"""Keys that a TPM seals, on machines that may have none."""

from pathlib import Path
from typing import Any

import pytest

from tests.machineconfig.stacks import BARE_METAL, raw, refused_and_warned

KEYS = "provider: luks2, keys: [{slot: 0, nodeID: {}}, {slot: 1, tpm: {%s}}]"
DOCUMENT = "apiVersion: v1alpha1\nkind: %s\nname: %s\n%sencryption: {" + KEYS + "}\n"
DISK = "provisioning: {minSize: 1GB, maxSize: 2GB, diskSelector: {match: system_disk}}\n"
SEALED = [
    DOCUMENT % ("VolumeConfig", "EPHEMERAL", "", ""),
    DOCUMENT % ("VolumeConfig", "STATE", "", "checkSecurebootStatusOnEnroll: true"),
    DOCUMENT % ("UserVolumeConfig", "data", DISK, ""),
    DOCUMENT % ("RawVolumeConfig", "data", DISK, ""),
    DOCUMENT % ("SwapVolumeConfig", "data", DISK, ""),
    "machine: {systemDiskEncryption: {ephemeral: {" + KEYS % "" + "}}}\n",
]
SECURE = {"images": {"default": {"secureBoot": True}}}


def refused(folder: Path, text: str, **changes: Any) -> tuple[str, ...]:
    return refused_and_warned(folder, {"worker/70-x.yaml": text}, **changes)[0]


@pytest.mark.parametrize("text", SEALED)
@pytest.mark.parametrize("changes", [{}, SECURE])
def test_a_virtual_machine_without_a_tpm_seals_no_key(text: str, changes: dict[str, Any], tmp_path: Path) -> None:
    (line,) = refused(tmp_path, text, **changes)
    assert "(w1): seals a key with a TPM, and w1 has none; set tpm: true for w1 in the stack file, or use" in line


@pytest.mark.parametrize("text", SEALED)
def test_a_virtual_machine_with_a_tpm_and_secure_boot_may_seal_one(text: str, tmp_path: Path) -> None:
    nodes = [node | {"tpm": True} for node in raw()["nodes"]]
    assert refused(tmp_path, text, nodes=nodes, **SECURE) == ()
    (line,) = refused(tmp_path, text, nodes=nodes)
    assert "not for secure boot" in line


@pytest.mark.parametrize("text", SEALED)
def test_a_machine_that_boots_without_secure_boot_seals_no_key(text: str, tmp_path: Path) -> None:
    (line,) = refused(tmp_path, text, **BARE_METAL)
    assert "the image default is not for secure boot, without which Talos cannot seal it; set secureBoot: true" in line


@pytest.mark.parametrize("text", SEALED)
def test_a_machine_with_secure_boot_may_seal_one(text: str, tmp_path: Path) -> None:
    assert refused(tmp_path, text, **BARE_METAL, **SECURE) == ()


def test_a_key_of_another_kind_is_clean(tmp_path: Path) -> None:
    assert refused(tmp_path, SEALED[0].replace("tpm: {}", "kms: {endpoint: 'https://kms.example.net'}")) == ()
