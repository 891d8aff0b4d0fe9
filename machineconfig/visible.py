"""What a template sees of a value: what it says, and never the object that says it."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property, lru_cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import Any

from jinja2.runtime import LoopContext

METHODS = frozenset(("disk_expression", "disk_selector"))
"""Facts that depend on a value."""
_OURS = ("topology", "versioning", "machineconfig.context", "machineconfig.ingress")
"""The modules whose classes are shown: their fields, their properties and the methods above."""
_OF_TEXT = """endswith lower removeprefix removesuffix rsplit split splitlines startswith strip lstrip rstrip upper"""
_OF_ADDRESSES = """broadcast_address compressed exploded ip is_global is_link_local is_loopback is_multicast is_private
    netmask network network_address num_addresses prefixlen version with_prefixlen"""
_OF_OTHERS: tuple[tuple[type, str], ...] = (
    (str, _OF_TEXT),
    (Mapping, "get items keys values"),
    (Enum, "name value"),
    (LoopContext, "changed cycle depth depth0 first index index0 last length nextitem previtem revindex revindex0"),
    *(
        (kind, _OF_ADDRESSES)
        for kind in (IPv4Address, IPv4Network, IPv4Interface, IPv6Address, IPv6Network, IPv6Interface)
    ),
)
CALLABLE = METHODS | frozenset(f"{_OF_TEXT} get items keys values changed cycle".split())
"""Every method that can be called."""


def names_of(kind: type) -> frozenset[str]:
    """The attributes of a class that a template may read; none starts with an underscore."""
    return _names_of(kind)


@lru_cache(maxsize=256)
def _names_of(kind: Any) -> frozenset[str]:
    found = {name for of, names in _OF_OTHERS if issubclass(kind, of) for name in names.split()}
    for each in kind.__mro__:
        if each.__module__.startswith(_OURS):
            facts = (name for name, value in vars(each).items() if isinstance(value, property | cached_property))
            found |= {*facts, *(METHODS & vars(each).keys())}
            found |= set(vars(each).get("__annotations__", ())) & _fields(kind)
    return frozenset(name for name in found if not name.startswith("_"))


def _fields(kind: type) -> frozenset[str]:
    if is_dataclass(kind):
        return frozenset(field.name for field in fields(kind))
    return frozenset(getattr(kind, "model_fields", ()))
