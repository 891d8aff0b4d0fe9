"""What an image of the lab's factory consists of: the first bytes of its format, and nothing bootable after them."""

import lzma
import re
import struct
from collections.abc import Callable, Mapping

SECTOR = 512
PLATFORMS = frozenset(
    {"akamai", "aws", "azure", "cloudstack", "digital-ocean", "equinixMetal", "exoscale", "gcp", "hcloud", "metal"}
    | {"nocloud", "opennebula", "openstack", "oracle", "scaleway", "upcloud", "vmware", "vultr"}
)
NAME = re.compile(
    r"(?P<platform>[a-zA-Z-]+?)-(?P<arch>amd64|arm64)(?P<secureboot>-secureboot)?\.(?P<format>[a-z0-9.]+)"
)


def _raw() -> bytes:
    """Return a disk with a protective MBR and the signature of a GPT."""
    mbr = bytearray(SECTOR)
    mbr[450] = 0xEE
    mbr[510:512] = b"\x55\xaa"
    return bytes(mbr) + b"EFI PART".ljust(SECTOR, b"\0")


def _zstd(content: bytes) -> bytes:
    """Return a Zstandard frame that stores ``content`` as it is (at most 64 KiB)."""
    block = struct.pack("<I", (len(content) << 3) | 1)[:3]
    return b"\x28\xb5\x2f\xfd" + b"\x60" + struct.pack("<H", len(content) - 256) + block + content


def _qcow2() -> bytes:
    """Return the header of an empty version 3 image of 1 GiB."""
    return b"QFI\xfb" + struct.pack(">IQIIQIIQQIIQQQQII", 3, 0, 0, 16, 1 << 30, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 4, 104)


def _iso() -> bytes:
    """Return an ISO 9660 image with its primary volume descriptor."""
    return bytes(16 * 2048) + b"\x01CD001\x01".ljust(2048, b"\0")


FORMATS: Mapping[str, Callable[[], bytes]] = {
    "raw": _raw,
    "raw.xz": lambda: lzma.compress(_raw()),
    "raw.zst": lambda: _zstd(_raw()),
    "qcow2": _qcow2,
    "iso": _iso,
}


def image(name: str) -> bytes | None:
    """Return the image called ``name``, like nocloud-amd64.raw.xz; None where the factory makes no such file."""
    found = NAME.fullmatch(name)
    if not found or found["platform"] not in PLATFORMS or found["format"] not in FORMATS:
        return None
    return FORMATS[found["format"]]()
