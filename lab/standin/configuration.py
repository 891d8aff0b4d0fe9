"""A provider's own configuration: the SDKs send everything but strings as JSON text."""

import contextlib
import json
from collections.abc import Mapping

from lab.standin.schema import Property, Scalar
from lab.standin.values import Properties

#: What the engine itself puts beside the properties.
_ENGINE = frozenset({"version", "pluginDownloadURL", "pluginChecksums", "__internal"})


def plain_configuration(declared: Mapping[str, Property], given: Properties) -> Properties:
    """Return ``given`` without the engine's own keys and with JSON text parsed; what is no JSON stays as it is."""
    plain: Properties = {}
    for name, value in given.items():
        if name in _ENGINE:
            continue
        wanted = declared.get(name)
        if wanted is not None and wanted.type != Scalar("string") and isinstance(value, str):
            with contextlib.suppress(ValueError):
                value = json.loads(value)
        plain[name] = value
    return plain
