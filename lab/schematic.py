"""What the Image Factory makes of a schematic: refuse what it does not know, write the rest canonically, hash it."""

import hashlib
from collections.abc import Mapping
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

OFFICIAL = frozenset(
    f"siderolabs/{name}"
    for line in Path(__file__).with_name("extensions.txt").read_text().splitlines()
    if not line.startswith("#")
    for name in line.split()
)
"""The official system extensions."""

SHAPE: Mapping[str, Any] = {
    "overlay": {"image": str, "name": str, "options": dict},
    "customization": {
        "extraKernelArgs": [str],
        "meta": [{"key": int, "value": str}],
        "systemExtensions": {"officialExtensions": [str]},
        "bootloader": str,
        "secureboot": {"includeWellKnownCertificates": bool},
    },
}
"""Every key a schematic can have, in the order of the canonical text."""


class SchematicError(Exception):
    """A schematic the factory refuses."""


def canonical(text: str) -> str:
    """Return the canonical YAML of a schematic: known keys in a fixed order, empty ones left out.

    Raises SchematicError for unknown keys, wrong types and extensions that are not official.
    """
    try:
        raw = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise SchematicError(f"not YAML: {error}") from error
    value = _ordered(raw if raw is not None else {}, SHAPE, "schematic")
    value.setdefault("customization", {})
    extensions = value["customization"].get("systemExtensions", {}).get("officialExtensions", [])
    unknown = [name for name in extensions if name not in OFFICIAL]
    if unknown:
        raise SchematicError(f"official extension {', '.join(unknown)} is not available for the Talos version")
    out = StringIO()
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.indent(mapping=4, sequence=6, offset=4)
    writer.width = 1 << 30
    writer.dump(value, out)
    return out.getvalue()


@cache
def customization(text: str) -> Mapping[str, Any]:
    """Return what a canonical schematic adds to Talos."""
    found: Mapping[str, Any] = (YAML(typ="safe", pure=True).load(text) or {}).get("customization", {})
    return found


def extensions_in(text: str) -> tuple[str, ...]:
    """Return the extensions that a canonical schematic asks for."""
    return tuple(customization(text).get("systemExtensions", {}).get("officialExtensions", ()))


def kernel_arguments_in(text: str) -> tuple[str, ...]:
    """Return the kernel arguments that a canonical schematic asks for."""
    return tuple(customization(text).get("extraKernelArgs", ()))


def identity(text: str) -> str:
    """Return the id of a canonical schematic."""
    return hashlib.sha256(text.encode()).hexdigest()


def _ordered(value: Any, shape: Any, path: str) -> Any:
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            raise SchematicError(f"{path}: a mapping is wanted")
        unknown = [str(key) for key in value if key not in shape]
        if unknown:
            raise SchematicError(f"{path}: field {', '.join(unknown)} not found")
        found = {key: _ordered(value[key], kind, f"{path}.{key}") for key, kind in shape.items() if key in value}
        return {key: item for key, item in found.items() if item not in ({}, [], "", False, None)}
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise SchematicError(f"{path}: a list is wanted")
        return [_ordered(item, shape[0], f"{path}[{index}]") for index, item in enumerate(value)]
    if not isinstance(value, shape):
        raise SchematicError(f"{path}: {shape.__name__} is wanted")
    return value
