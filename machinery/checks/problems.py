"""What checks find, and the small checks that many of them need."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_interface
from typing import Any

from findings import Path, path_of
from machinery.problems import Problem
from machinery.structure import Release

Values = Mapping[str, Any]


@dataclass
class Problems:
    """Errors and warnings, in the order found; `prefix` stands before each, `release` is the machine's.

    A sentence begins with the place that it is about, from `at` in `document` on, and perhaps words behind a colon, and
    goes on with the value in quotes where one is given. Where it cannot, the place is empty and `path` leads there.
    """

    release: Release
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    prefix: str = ""
    document: str = ""
    at: Path = ()

    def error(self, place: str, message: str, *path: str | int, value: str | None = None) -> None:
        """Note what the machine refuses."""
        self.errors.append(self._problem(place, message, path, value))

    def warn(self, place: str, message: str, *path: str | int, value: str | None = None) -> None:
        """Note what the machine takes with a warning."""
        self.warnings.append(self._problem(place, message, path, value))

    def under(self, title: str, path: Path | None = None) -> "Problems":
        """Return problems that go into these, with a title before each, and about places further in.

        Without a path the title is one.
        """
        at = (*self.at, *(path_of(title) if path is None else path))
        return Problems(self.release, self.errors, self.warnings, f"{self.prefix}{title}: ", self.document, at)

    def of(self, document: str) -> "Problems":
        """Return problems that go into these and are about another document."""
        return Problems(self.release, self.errors, self.warnings, f"{document}: ", document)

    def _problem(self, place: str, message: str, path: Path, value: str | None) -> Problem:
        quoted = "" if value is None else f'"{value}"'
        said = self.prefix + " ".join(filter(None, (place, quoted, message)))
        return Problem(
            said, (*self.at, *(path or path_of(place.partition(":")[0]))), document=self.document, value=value or ""
        )


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
