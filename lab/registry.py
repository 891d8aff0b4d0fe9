"""Which container images there are to pull: the installers of the Image Factory, Talos's own, everybody else's."""

import re
from dataclasses import dataclass, field

from lab.images import PLATFORMS
from lab.schematic import canonical, identity

OLDEST, NEWEST = (1, 8), (1, 14)
"""Minor versions of Talos whose images the factory makes."""
VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(-(?:alpha|beta|rc)\.\d+)?")
_LAST_OFFICIAL = (1, 13)  # later ones have no installer outside the Image Factory
_OFFICIAL = re.compile(r"[^/]+/siderolabs/installer")
_FACTORY = re.compile(
    r"[^/]+/(?:.+/)?(?:(?P<platform>[a-zA-Z-]+)-)??installer(?:-secureboot)?/(?P<schematic>[0-9a-f]{64})"
)


def version_of(text: str) -> tuple[int, int] | None:
    """The minor version of a Talos release that there is; None for any other."""
    found = VERSION.fullmatch(text)
    version = (int(found[1]), int(found[2])) if found else None
    return version if version and OLDEST <= version <= NEWEST else None


def _only_the_empty_one() -> dict[str, str]:
    text = canonical("")
    return {identity(text): text}


@dataclass
class Registry:
    """What machines pull from. ``schematics``: those the factory was given, canonical YAML by id.

    ``complete`` is false in a lab without a factory: then nobody knows the schematics, and all of them are taken to
    be there. Images that are neither an installer of the factory nor Talos's own are there under every tag.
    """

    schematics: dict[str, str] = field(default_factory=_only_the_empty_one)
    complete: bool = True

    def missing(self, image: str) -> str:
        """Why an image cannot be pulled; empty where it can."""
        name, _, tag = image.partition("@")[0].rpartition(":")
        if not name or "/" in tag:
            return f"{image}: not found" if "@" not in image else ""
        if made := _FACTORY.fullmatch(name):
            return self._missing_installer(image, made["platform"], made["schematic"], tag)
        if _OFFICIAL.fullmatch(name):
            version = version_of(tag)
            return "" if version and version <= _LAST_OFFICIAL else f"{image}: not found"
        return ""

    def _missing_installer(self, image: str, platform: str | None, schematic: str, tag: str) -> str:
        known = schematic in self.schematics or not self.complete
        there = known and version_of(tag) and (platform is None or platform in PLATFORMS)
        return "" if there else f"{image}: not found"
