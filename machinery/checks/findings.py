"""What checks find, and the small checks that many of them need."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_interface
from typing import Any

from machinery.structure import Release

Values = Mapping[str, Any]


@dataclass
class Findings:
    """Errors and warnings, in the order found; `prefix` stands before each, `release` is the machine's."""

    release: Release
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    prefix: str = ""

    def error(self, message: str) -> None:
        """Note what the machine refuses."""
        self.errors.append(self.prefix + message)

    def warn(self, message: str) -> None:
        """Note what the machine takes with a warning."""
        self.warnings.append(self.prefix + message)

    def under(self, title: str) -> "Findings":
        """Return findings that go into these, with a title before each."""
        return Findings(self.release, self.errors, self.warnings, f"{self.prefix}{title}: ")


def get(values: Values | None, *path: str) -> Any:
    """Return a value deep inside, or None."""
    found: Any = values
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def is_address(text: str) -> bool:
    """Tell whether a text is an IP address without a prefix or zone."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def is_prefix(text: str) -> bool:
    """Tell whether a text is an IP address with a prefix length."""
    _, slash, bits = text.partition("/")
    if not slash or not re.fullmatch(r"0|[1-9][0-9]{0,2}", bits) or "%" in text:
        return False
    try:
        ip_interface(text)
    except ValueError:
        return False
    return True


def is_subnet_filter(text: str) -> bool:
    """Tell whether a text is a subnet or an address, perhaps with `!` before it."""
    bare = text.removeprefix("!")
    return is_prefix(bare) or is_address(bare)


def has_port(text: str) -> bool:
    """Tell whether a text is a host and a port."""
    host, colon, port = text.rpartition(":")
    return bool(colon and port is not None and (":" not in host or (host.startswith("[") and host.endswith("]"))))
