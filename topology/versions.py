"""Versions as values that can be compared, not as strings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from topology.model import refuse


@dataclass(frozen=True, order=True)
class Contract:
    """A minor version, ``v1.13``: what the machine configuration is written for. Never changes in a cluster."""

    major: int
    minor: int

    def __str__(self) -> str:
        """``v1.13``."""
        return f"v{self.major}.{self.minor}"


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


_VERSION = r"v(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,5})"
_CONTRACT = r"v(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})"


def parse_version(raw: object) -> Version:
    """Take ``v1.13.9``; refuse numbers (an unquoted version), a missing ``v`` and anything that is not a release."""
    version = read_version(_quoted(raw, "vMAJOR.MINOR.PATCH"))
    if version is None:
        refuse("is not a version", _repair(raw, _VERSION, "vMAJOR.MINOR.PATCH, such as v1.13.9"))
    return version


def read_version(raw: object) -> Version | None:
    """Return what ``v1.13.9`` means; None for anything that is not a version."""
    match = re.fullmatch(_VERSION, raw) if isinstance(raw, str) else None
    return Version(*(int(part) for part in match.groups())) if match else None


def parse_contract(raw: object) -> Contract:
    """Take ``v1.13``; refuse numbers (an unquoted version) and a patch number, which a contract does not have."""
    match = re.fullmatch(_CONTRACT, _quoted(raw, "vMAJOR.MINOR"))
    if not match:
        refuse("is not a contract", _repair(raw, _CONTRACT, "vMAJOR.MINOR, such as v1.13"))
    return Contract(*(int(part) for part in match.groups()))


def _quoted(raw: object, form: str) -> str:
    """Return the text of a version, or refuse what YAML has made of one without quotes (1.10 becomes 1.1)."""
    if isinstance(raw, bool | int | float):
        refuse("is a number, not a version", f'write it whole and in quotes, "{form}" (unquoted, 1.10 is 1.1)')
    if not isinstance(raw, str):
        refuse("is not a version", f'write it in quotes, "{form}"')
    return raw


def _repair(raw: object, pattern: str, form: str) -> str:
    """Say what to write: the same with its ``v`` where only that is missing, the general form otherwise."""
    return f'write "v{raw}"' if re.fullmatch(pattern, f"v{raw}") else f"write it as {form}"
