"""Versions as the stack file has them: parsed, or refused with a cure."""

from collections.abc import Callable

from topology.model import refuse
from versioning import Contract, Version, read_contract, read_version


def parse_version(raw: object) -> Version:
    """Take ``v1.13.9``; refuse numbers (an unquoted version), a missing ``v`` and anything that is not a release."""
    version = read_version(_quoted(raw, "vMAJOR.MINOR.PATCH"))
    if version is None:
        refuse("is not a version", _repair(raw, read_version, "vMAJOR.MINOR.PATCH, such as v1.13.9"))
    return version


def parse_contract(raw: object) -> Contract:
    """Take ``v1.13``; refuse numbers (an unquoted version) and a patch number, which a contract does not have."""
    contract = read_contract(_quoted(raw, "vMAJOR.MINOR"))
    if contract is None:
        refuse("is not a contract", _repair(raw, read_contract, "vMAJOR.MINOR, such as v1.13"))
    return contract


def _quoted(raw: object, form: str) -> str:
    """Return the text of a version, or refuse what YAML has made of one without quotes (1.10 becomes 1.1)."""
    if isinstance(raw, bool | int | float):
        refuse("is a number, not a version", f'write it whole and in quotes, "{form}" (unquoted, 1.10 is 1.1)')
    if not isinstance(raw, str):
        refuse("is not a version", f'write it in quotes, "{form}"')
    return raw


def _repair(raw: object, read: Callable[[object], object], form: str) -> str:
    """Say what to write: the same with its ``v`` where only that is missing, the general form otherwise."""
    return f'write "v{raw}"' if read(f"v{raw}") else f"write it as {form}"
