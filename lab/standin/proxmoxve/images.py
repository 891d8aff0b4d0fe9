"""What an Image Factory address tells about an image, and what the factory tells about its schematic."""

import re
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

import yaml

from lab.standin.resource import get

_TIMEOUT = 10.0  # seconds
_LARGEST = 1 << 20  # bytes of a schematic
_IMAGE = re.compile(
    r"/image/(?P<schematic>[0-9a-f]{64})/(?P<version>v[^/]+)/(?P<platform>[A-Za-z0-9-]+?)-(?P<arch>amd64|arm64)"
    r"(?P<secureboot>-secureboot)?\.(?P<format>[a-z0-9.]+)"
)


def facts(url: str) -> dict[str, Any]:
    """Return schematic, version, platform and, where the factory tells, the extensions; another file has none."""
    parts = urlsplit(url)
    found = _IMAGE.fullmatch(parts.path)
    if not found:
        return {"url": url}
    known = {name: found[name] for name in ("schematic", "version", "platform")}
    return {"url": url, **known, "extensions": _extensions(f"{parts.scheme}://{parts.netloc}", found["schematic"])}


def _extensions(factory: str, schematic: str) -> list[str] | None:
    """Return the official extensions of a schematic; ``None`` when the factory does not tell."""
    try:
        with urllib.request.urlopen(f"{factory}/schematics/{schematic}", timeout=_TIMEOUT) as answer:  # noqa: S310
            document = yaml.load(answer.read(_LARGEST), Loader=yaml.CSafeLoader)
    except (urllib.error.URLError, OSError, ValueError, yaml.YAMLError):
        return None
    listed = get(document, "customization", "systemExtensions", "officialExtensions", default=[])
    return [str(name) for name in listed] if isinstance(listed, list) else None
