"""What the Image Factory calls things: schematic ids, installer references and disk images, without asking it."""

import hashlib
from dataclasses import dataclass
from typing import Protocol, Self
from urllib.parse import urlsplit

from machinery.emit import dump

ARCHITECTURE = "amd64"

# What a platform can import as a disk, and the storage content type it files it under. A compressed image is left out
# on purpose: Proxmox unpacks gz, lzo, zst and bz2 but not the factory's xz, and OpenStack and Scaleway store the
# archive as it is.
_DISK_FORMATS = {
    "nocloud": {"qcow2": "import", "raw": "import", "iso": "iso"},
    "openstack": {"qcow2": "qcow2"},
    "scaleway": {"qcow2": "qcow2"},
    "metal": {"iso": "iso", "raw": "raw", "raw.zst": "raw", "raw.xz": "raw", "qcow2": "qcow2"},
}


class UnknownFormatError(ValueError):
    """A disk image format that the platform cannot take."""


class Customization(Protocol):
    """What of an image decides its schematic: `topology.Image` is one."""

    @property
    def extensions(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def extra_kernel_args(self) -> tuple[str, ...]: ...  # noqa: D102


@dataclass(frozen=True)
class Schematic:
    """A set of system extensions and kernel arguments, as the Image Factory writes it down.

    The factory's id of a schematic is the SHA-256 of its canonical YAML, so it is known before anything is asked. The
    order of extensions changes the id and nothing else, so they are sorted; the order of kernel arguments is kept,
    because for the kernel the last one wins.
    """

    extensions: tuple[str, ...] = ()
    extra_kernel_args: tuple[str, ...] = ()

    @classmethod
    def of(cls, image: Customization) -> Self:
        """The schematic of an image of the topology."""
        return cls(tuple(sorted(set(image.extensions))), tuple(image.extra_kernel_args))

    @property
    def yaml(self) -> str:
        """The canonical YAML, without what is empty.

        Raises ValueError for a string with control characters: none of them belongs on a kernel command line.
        """
        for text in (*self.extra_kernel_args, *self.extensions):
            if not text.isprintable():
                raise ValueError(f"{text!r} holds a character that cannot be printed")
        arguments = {"extraKernelArgs": list(self.extra_kernel_args)} if self.extra_kernel_args else {}
        extensions = {"systemExtensions": {"officialExtensions": list(self.extensions)}} if self.extensions else {}
        return dump([{"customization": {**arguments, **extensions}}])

    @property
    def id(self) -> str:
        """Sixty-four hexadecimal digits."""
        return hashlib.sha256(self.yaml.encode()).hexdigest()


@dataclass(frozen=True)
class DiskImage:
    """An image of the Image Factory: where it is, under which name to keep it, and as which kind of content."""

    url: str
    file_name: str
    content_type: str


def installer(
    factory: str, platform: str, schematic_id: str, talos_version: object, *, secure_boot: bool = False
) -> str:
    """The installer image that keeps a node what it is: its platform (Talos's name for it), its schematic, its boot.

    The generic `metal` installer on a cloud node would drop the platform's addressing at the next upgrade, one without
    `-secureboot` would leave a secure-boot node without a boot loader. `factory` is the factory's URL or its host.
    """
    return f"{_host(factory)}/{platform}-installer{_suffix(secure_boot)}/{schematic_id}:{talos_version}"


def disk_image(
    factory: str,
    platform: str,
    schematic_id: str,
    talos_version: object,
    *,
    image_format: str = "qcow2",
    architecture: str = ARCHITECTURE,
    secure_boot: bool = False,
) -> DiskImage:
    """The disk image of a schematic for a platform (Talos's name for it).

    Raises UnknownFormatError for a format that the platform cannot take.
    """
    takes = _DISK_FORMATS.get(platform, {})
    if image_format not in takes:
        raise UnknownFormatError(
            f"{image_format} is not a disk image that platform {platform} can take;"
            f" use {' or '.join(takes) or 'another platform'}"
        )
    name = f"{platform}-{architecture}{_suffix(secure_boot)}.{image_format}"
    base = factory.rstrip("/") if "://" in factory else f"https://{factory}"
    return DiskImage(
        url=f"{base}/image/{schematic_id}/{talos_version}/{name}",
        file_name=f"talos-{talos_version}-{schematic_id[:8]}-{name}",
        content_type=takes[image_format],
    )


def _suffix(secure_boot: bool) -> str:
    return "-secureboot" if secure_boot else ""


def _host(factory: str) -> str:
    return urlsplit(factory).netloc if "://" in factory else factory
