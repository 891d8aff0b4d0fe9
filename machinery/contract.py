"""Version contracts and releases: what `talos_version` and a machine's release mean to generation and reading."""

import re

from machinery.errors import ConfigError
from machinery.structure.notation import Release
from versioning import Contract

# The machinery inside the Talos provider 0.8.1: it reads patches with this release's structure, whatever the contract.
PROVIDER: Release = (1, 13, 0)
# What a machine runs when nothing else is said.
NEWEST_MACHINE: Release = (1, 13, 9)


def contract_of(version: str) -> Contract:
    """Return the contract of a version such as `v1.13.9`, `1.13` or `v1.13`; raise ConfigError for anything else."""
    match = re.match(r"([0-9]+)\.([0-9]+)(?:$|\.)", version.removeprefix("v"))
    if match is None:
        raise ConfigError(f'"{version}" is not a Talos version: write it as v1.13.9')
    return Contract(int(match[1]), int(match[2]))


def release_of(version: str) -> Release:
    """Return the release of a version; without a patch number the newest of its minor release is meant."""
    contract = contract_of(version)
    patch = re.match(r"[0-9]+\.[0-9]+\.([0-9]+)", version.removeprefix("v"))
    return contract.major, contract.minor, int(patch[1]) if patch else 999
