"""Volumes by patch: whole disks, and the mounts with which pods get at a volume."""

import copy
from pathlib import Path
from typing import Any

import pytest

from machineconfig.checks.selectors import holds, names_one
from tests.machineconfig.stacks import BARE_METAL, refused_and_warned

WHOLE = (
    "apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: %s\nvolumeType: disk\n"
    "provisioning: {diskSelector: {match: '%s'}}\n"
)
PART = (
    "apiVersion: v1alpha1\nkind: %s\nname: %s\nprovisioning: {minSize: 1GB, maxSize: 2GB, "
    "diskSelector: {match: '%s'}}\n"
)
SERIAL = 'disk.serial == "Z"'
MOUNT = "machine: {kubelet: {extraMounts: [{destination: %s, source: %s, type: bind}]}}\n"


def stack() -> dict[str, Any]:
    """Bare metal whose worker has two more disks, one of them with a volume called fast."""
    changes = copy.deepcopy(BARE_METAL)
    changes["platform"]["volumes"] = {"fast": {"disk": "local", "minSize": "10GiB"}}
    changes["nodes"][1]["disks"] = {"local": {"serial": "L1"}, "other": {"wwid": "naa.2", "type": "nvme"}}
    changes["nodes"][1]["installDisk"] = {"serial": "S1", "busPath": "/pci0/ata1", "type": "ssd"}
    return changes


def said(folder: Path, *texts: str, **changes: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    files = {f"node/w1/{70 + at}-x.yaml": text for at, text in enumerate(texts)}
    return refused_and_warned(folder, files, **(changes or stack()))


@pytest.mark.parametrize(
    ("match", "message"),
    [
        ("!system_disk", "has system_disk, which is not known where a whole disk is matched"),
        (f"{SERIAL} && !system_disk", "has system_disk, which is not known where a whole disk is matched"),
        ('disk.serial == "S1"', "which takes a whole disk, fits the disk that Talos is on"),
        ('disk.serial == "S1" && disk.size > 1u * GB', "fits the disk that Talos is on"),
        ('disk.bus_path.startsWith("/pci0")', "fits the disk that Talos is on"),
        ("!disk.rotational", "fits the disk that Talos is on"),
        ('disk.serial == "L1"', "fits the disk of fast (patches/worker/45-volumes.yaml.j2:9)"),
        ('disk.serial == "L1" && disk.size > 1u * GB', "fits the disk of fast (patches/worker/45-volumes.yaml.j2:9)"),
        ("disk.readonly", "fits no disk that can be written"),
    ],
)
def test_a_whole_disk_that_is_not_free_is_refused(match: str, message: str, tmp_path: Path) -> None:
    (line,), _ = said(tmp_path, WHOLE % ("data", match))
    assert line.startswith("patches/node/w1/70-x.yaml:5 (w1): the match of data") and message in line
    assert line.endswith("match by wwid or serial, as talosctl get disks shows them [whole-disk]")


@pytest.mark.parametrize("match", ['disk.dev_path == "/dev/sda"', "disk.size > 10u * GB", "disk.size <= 40u * GiB"])
def test_the_disk_of_a_virtual_machine_is_known_by_its_name_and_size(match: str, tmp_path: Path) -> None:
    (line,), _ = said(tmp_path, WHOLE % ("data", match), network__discovery=True)
    assert "fits the disk that Talos is on" in line


@pytest.mark.parametrize(
    "other",
    [
        WHOLE % ("first", f"{SERIAL} && !disk.cdrom"),
        PART % ("UserVolumeConfig", "first", f"{SERIAL} && !system_disk"),
        PART % ("RawVolumeConfig", "first", SERIAL),
        PART % ("SwapVolumeConfig", "first", SERIAL),
        PART % ("VolumeConfig", "EPHEMERAL", SERIAL),
    ],
)
def test_the_disk_of_another_volume_is_refused_with_its_place(other: str, tmp_path: Path) -> None:
    (line,), _ = said(tmp_path, other, WHOLE % ("data", SERIAL))
    assert "the match of data, which takes a whole disk, fits the disk of " in line
    assert "(patches/node/w1/70-x.yaml:" in line and line.startswith("patches/node/w1/71-x.yaml:5")


@pytest.mark.parametrize(
    "texts",
    [
        (WHOLE % ("data", SERIAL),),
        (WHOLE % ("data", 'disk.wwid == "naa.2"'),),
        (WHOLE % ("data", '"/dev/disk/by-id/y" in disk.symlinks'),),
        (WHOLE % ("data", SERIAL), WHOLE % ("more", 'disk.serial == "Y"')),
        (PART % ("UserVolumeConfig", "data", "system_disk"), PART % ("UserVolumeConfig", "more", "system_disk")),
        (PART % ("UserVolumeConfig", "data", "!system_disk && disk.size > 1u * GB"),),
    ],
)
def test_a_disk_that_is_free_is_clean(texts: tuple[str, ...], tmp_path: Path) -> None:
    assert said(tmp_path, *texts) == ((), ())


@pytest.mark.parametrize("match", ["disk.size > 100u * GB", 'disk.model == "x"', 'disk.dev_path == "/dev/sdb"'])
def test_a_whole_disk_that_may_be_another_is_warned_of(match: str, tmp_path: Path) -> None:
    refused, (line,) = said(tmp_path, WHOLE % ("data", match))
    assert refused == ()
    assert "takes a whole disk, and its match may fit more than one, or the one that Talos is on; match by" in line


def test_a_whole_disk_that_is_surely_another_is_still_to_be_one(tmp_path: Path) -> None:
    (line,) = said(tmp_path, WHOLE % ("data", "disk.size > 100u * GB"), network__discovery=True)[1]
    assert "its match may fit more than one, which Talos refuses; match by wwid or serial" in line


DISK = {"serial": "A", "rotational": True, "symlinks": ("/dev/disk/by-id/a",), "system_disk": False}


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ('disk.serial == "A"', True),
        ("disk.serial == 'B' || disk.rotational", True),
        ('!(disk.serial == "A") && disk.size > 1u', False),
        ('disk.serial in ["B", "A"]', True),
        ('"/dev/disk/by-id/a" in disk.symlinks', True),
        ('"/dev/disk/by-id/b" in disk.symlinks', None),
        ("disk.size > 100u * GB", None),
        ('disk.serial == "A" && disk.size > 1u', None),
        ('disk.serial.startsWith("B")', False),
        ('glob("A*", disk.serial)', None),
        ("disk.rotational ? true : false", None),
        ("system_disk", False),
        ("disk.serial ==", None),
        ("disk.serial < 5", None),
        ("disk.size > 10u * GiB || disk.rotational", True),
    ],
)
def test_a_selector_is_computed_as_far_as_the_disk_is_known(expression: str, answer: bool | None) -> None:
    assert holds(expression, DISK) is answer


def test_a_selector_names_one_disk_by_what_no_other_has() -> None:
    assert names_one('disk.serial == "A" && disk.size > 1u') and names_one('"/dev/disk/by-id/a" in disk.symlinks')
    assert not names_one('disk.model == "A"') and not names_one('disk.serial != "A"')


@pytest.mark.parametrize(
    ("destination", "source", "message"),
    [
        ("/var/lib/fast", "/var/lib/fast", "the volume fast (patches/worker/45-volumes.yaml.j2:6) is at /var/mnt/fast"),
        ("/data", "/var/fast/sub", "mounts /var/fast/sub, which is on the system disk; the volume fast"),
        ("/data", "/var/mnt/../lib/fast", "mounts /var/lib/fast, which is on the system disk"),
        ("/data", "/var/mnt/other", "the machine has no volume other; add a UserVolumeConfig other"),
        ("/data", "/var/mnt/raw", "mounts /var/mnt/raw, and the volume raw (patches/node/w1/70-x.yaml:3) has no file"),
        ("/var/lib/kubelet", "/var/lib/x", "hides /var/lib/kubelet, which Talos itself needs there, behind"),
        ("/var/mnt", "/var/lib/x", "hides the volume fast (patches/worker/45-volumes.yaml.j2:6) behind /var/lib/x"),
    ],
)
def test_a_mount_that_misses_or_hides_a_volume_is_warned_of(
    destination: str, source: str, message: str, tmp_path: Path
) -> None:
    raw = PART % ("RawVolumeConfig", "raw", 'disk.serial == "R"')
    refused, (line,) = said(tmp_path, raw, MOUNT % (destination, source))
    assert refused == ()
    assert line.startswith("patches/node/w1/71-x.yaml:1 (w1): ") and message in line and line.endswith("[mount]")


@pytest.mark.parametrize(
    ("destination", "source"),
    [
        ("/data", "/var/mnt/fast"),
        ("/data", "/var/mnt/fast/sub"),
        ("/var/lib/longhorn", "/var/lib/longhorn"),
        ("/var/lib/kubelet", "/var/lib/kubelet"),
        ("/data", "/var/log/fast"),
    ],
)
def test_a_mount_of_what_is_there_is_clean(destination: str, source: str, tmp_path: Path) -> None:
    assert said(tmp_path, MOUNT % (destination, source)) == ((), ())


def test_a_partition_of_machine_disks_is_no_path_of_the_system_disk(tmp_path: Path) -> None:
    disks = "machine: {disks: [{device: /dev/disk/by-id/d, partitions: [{mountpoint: /var/mnt/old}]}]}\n"
    lines = said(tmp_path, disks, MOUNT % ("/data", "/var/mnt/old"))[1]
    assert not [line for line in lines if "[mount]" in line]


def test_a_mount_over_an_earlier_one_is_warned_of(tmp_path: Path) -> None:
    inner, outer = MOUNT % ("/opt/x/y", "/var/a"), MOUNT % ("/opt/x", "/var/b")
    _, (line,) = said(tmp_path, inner, outer)
    assert "hides the mount at /opt/x/y (patches/node/w1/70-x.yaml:1), which is made before it" in line
    assert said(tmp_path, outer, inner) == ((), ())


def test_volumes_of_the_control_planes_pods_are_looked_at_too(tmp_path: Path) -> None:
    part = PART % ("UserVolumeConfig", "audit", "system_disk")
    text = "cluster: {apiServer: {extraVolumes: [{hostPath: /var/lib/audit, mountPath: /audit}]}}\n"
    files = {"controlplane/70-x.yaml": part, "controlplane/71-x.yaml": text}
    refused, (line,) = refused_and_warned(tmp_path, files)
    assert refused == () and line.endswith("is at /var/mnt/audit; write hostPath: /var/mnt/audit [mount]")


def test_a_static_pod_that_misses_a_volume_is_warned_of(tmp_path: Path) -> None:
    pod = "machine: {pods: [{spec: {volumes: [{name: a, hostPath: {path: %s}}]}}]}\n"
    _, (line,) = said(tmp_path, pod % "/var/lib/fast")
    assert line.startswith("patches/node/w1/70-x.yaml:1 (w1): mounts /var/lib/fast, which is on the system disk")
    assert line.endswith("write path: /var/mnt/fast [mount]")
    assert said(tmp_path, pod % "/var/mnt/fast") == ((), ())
