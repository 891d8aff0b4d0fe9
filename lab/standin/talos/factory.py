"""The Image Factory that the provider is configured for, and the invoke that computes its addresses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from lab.standin.resource import Function, InvokeError, ProviderError
from lab.standin.schema import Failure
from lab.standin.talos import package
from lab.standin.values import Properties

DEFAULT = "https://factory.talos.dev"
_ARCHITECTURES = ("amd64", "arm64")
#: Disk image ending, "" for none; then whether there are ISO, PXE and secure boot images. In the provider's order.
_PLATFORMS: dict[str, tuple[str, bool, bool, bool]] = {
    "metal": ("raw.zst", True, True, True),
    "aws": ("raw.xz", False, False, False),
    "gcp": ("raw.tar.gz", False, False, False),
    "equinixMetal": ("", False, True, False),
    "azure": ("vhd.xz", False, False, True),
    "digital-ocean": ("raw.gz", False, False, False),
    "nocloud": ("raw.xz", True, True, True),
    "openstack": ("raw.xz", True, True, False),
    "vmware": ("ova", True, False, False),
    "akamai": ("raw.gz", False, False, False),
    "cloudstack": ("raw.gz", False, False, True),
    "hcloud": ("raw.xz", False, False, False),
    "oracle": ("qcow2", False, False, False),
    "upcloud": ("raw.xz", False, False, False),
    "vultr": ("", True, True, False),
    "exoscale": ("qcow2", False, False, False),
    "opennebula": ("raw.zst", True, False, False),
    "scaleway": ("raw.zst", True, False, False),
}


@dataclass
class ImageFactory:
    """Where the Image Factory is; set when the provider is configured."""

    url: str = DEFAULT

    def configure(self, url: str | None) -> None:
        """Take ``imageFactoryUrl``; raises ``ProviderError`` for what is no http or https address."""
        parts = urlsplit(url or DEFAULT)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ProviderError("failed to create Image Factory client: imageFactoryUrl must be an https address")
        self.url = (url or DEFAULT).rstrip("/")


class GetUrls(Function):
    """``getUrls``: computed without a network."""

    schema = package.GET_URLS

    def __init__(self, factory: ImageFactory) -> None:
        """Compute for ``factory``."""
        self._factory = factory

    async def call(self, args: Properties) -> Properties:
        """Return the addresses of a platform's images."""
        failures = list(_failures(args))
        if failures:
            raise InvokeError(failures)
        if "sbc" in args:
            raise ProviderError("images of single-board computers are not simulated")
        version = "v" + args["talosVersion"].removeprefix("v")
        if not re.fullmatch(r"v\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?", version):
            raise ProviderError("talos_version is not valid: The provided version is not a valid semantic version.")
        answer = {"architecture": "amd64", "id": "", **args}
        return {**answer, "urls": self._urls(args["schematicId"], version, args["platform"], answer["architecture"])}

    def _urls(self, schematic: str, version: str, platform: str, architecture: str) -> dict[str, str]:
        disk, iso, pxe, secure = _PLATFORMS[platform]
        parts = urlsplit(self._factory.url)
        image = f"{self._factory.url}/image/{schematic}/{version}"
        name = f"{image}/{platform}-{architecture}"
        installer = f"{parts.netloc}/{platform}-installer"
        urls = {"installer": f"{installer}/{schematic}:{version}"}
        if secure:
            urls["installerSecureboot"] = f"{installer}-secureboot/{schematic}:{version}"
        if disk:
            urls["diskImage"] = f"{name}.{disk}"
        if iso:
            urls["iso"] = f"{name}.iso"
        if disk and secure:
            urls["diskImageSecureboot"] = f"{name}-secureboot.{disk}"
        if iso and secure:
            urls["isoSecureboot"] = f"{name}-secureboot.iso"
        if pxe:
            where = f"{parts.scheme}://pxe.{parts.netloc}/pxe/{schematic}/{version}"
            urls["pxe"] = f"{where}/{platform}-{architecture}"
        if platform == "metal":
            urls["kernel"] = f"{image}/kernel-{architecture}"
            urls["kernelCommandLine"] = f"{image}/cmdline-metal-{architecture}"
            urls["initramfs"] = f"{image}/initramfs-{architecture}.xz"
            urls["uki"] = f"{name}-secureboot-uki.efi"
        return urls


def _failures(args: Properties) -> Iterator[Failure]:
    match = 'Invalid Attribute Value Match: Attribute {} value must be one of: [{}], got: "{}"'
    for name, allowed in (("platform", tuple(_PLATFORMS)), ("architecture", _ARCHITECTURES)):
        value = args.get(name)
        if value is not None and value not in allowed:
            yield Failure(name, match.format(name, " ".join(f'"{known}"' for known in allowed), value))
    count = ("platform" in args) + ("sbc" in args)
    if count != 1:
        specified = "No attribute" if count == 0 else "2 attributes"
        for name, other in (("platform", "sbc"), ("sbc", "platform")):
            told = f"{specified} specified when one (and only one) of [{other}] is required"
            yield Failure(name, f"Invalid Attribute Combination: {told}")
