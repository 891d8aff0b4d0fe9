"""Versions as values that can be compared, the same in every room."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CONTRACT = re.compile(r"v(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})")
_VERSION = re.compile(r"v(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,5})")


@dataclass(frozen=True, order=True)
class Contract:
    """A minor version, ``v1.13``: what the machine configuration is written for. Never changes in a cluster."""

    major: int
    minor: int

    def __str__(self) -> str:
        """``v1.13``."""
        return f"v{self.major}.{self.minor}"

    def after(self, minor: int) -> bool:
        """Whether it is newer than 1.`minor`."""
        return self > Contract(1, minor)


@dataclass(frozen=True, order=True)
class Version:
    """A released version, ``v1.13.9``."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        """``v1.13.9``."""
        return f"v{self.major}.{self.minor}.{self.patch}"

    @property
    def contract(self) -> Contract:
        """The minor version this release belongs to."""
        return Contract(self.major, self.minor)


def read_version(raw: object) -> Version | None:
    """Return what ``v1.13.9`` means; None for anything that is not a version."""
    match = _VERSION.fullmatch(raw) if isinstance(raw, str) else None
    return Version(*map(int, match.groups())) if match else None


def read_contract(raw: object) -> Contract | None:
    """Return what ``v1.13`` means; None for anything that is not a contract."""
    match = _CONTRACT.fullmatch(raw) if isinstance(raw, str) else None
    return Contract(*map(int, match.groups())) if match else None
