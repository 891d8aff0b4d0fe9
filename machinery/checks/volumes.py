"""Checks of the documents about volumes and of the expressions that select disks."""

import re
from collections.abc import Callable

from machinery.cel import DISK, VOLUME, expression_problem
from machinery.checks.machine import check_keys
from machinery.checks.problems import Problems, Values
from machinery.goform import bytes_of

_LABEL_LENGTH = 36
_PREFIX_LENGTH = 2
_SYSTEM_VOLUMES = ("STATE", "EPHEMERAL", "IMAGECACHE")
_FILESYSTEMS = ("none", "xfs", "ext4")


def _name(values: Values, problems: Problems, limited: bool = True) -> None:
    name = values.get("name", "")
    if not name:
        problems.error("name", "is missing")
    if limited and len(name) > _LABEL_LENGTH - _PREFIX_LENGTH:
        problems.error("name", f"must have at most {_LABEL_LENGTH - _PREFIX_LENGTH} characters")
    if not re.fullmatch("[A-Za-z0-9-]*", name):
        problems.error("name", "may hold letters, digits and hyphens only")


def _size(text: str) -> int:
    return bytes_of(text.removeprefix("-")) if text else 0


def _provisioning(values: Values, problems: Problems, needed: bool = True, sizes: bool = True) -> None:
    spec = values.get("provisioning") or {}
    match = (spec.get("diskSelector") or {}).get("match", "")
    if match:
        if problem := expression_problem(match, DISK):
            problems.error("provisioning.diskSelector.match:", problem)
    elif needed:
        problems.error("provisioning.diskSelector.match", "is missing: say which disk")
    low, high = spec.get("minSize", ""), spec.get("maxSize", "")
    if not sizes:
        if low or high or "grow" in spec:
            problems.error("provisioning:", "minSize, maxSize and grow mean nothing for a whole disk")
        return
    if low and high and "%" not in high and not high.startswith("-"):
        if _size(low) > _size(high):
            problems.error("provisioning.minSize", "is greater than maxSize")
    elif needed and not low and not high:
        problems.error("provisioning.minSize", "or maxSize is missing: say how large")
    if low.startswith("-"):
        problems.error("provisioning.minSize", "must not be negative")


def _encryption(values: Values, problems: Problems) -> None:
    spec = values.get("encryption") or {}
    provider = spec.get("provider", "none")
    if provider == "none" and not spec.get("keys"):
        return
    if provider != "luks2":
        problems.error("encryption.provider", "must be luks2")
    check_keys(spec.get("keys", []), problems.under("encryption"))
    for key in spec.get("keys", ()):
        options = (key.get("tpm") or {}).get("options") or {}
        for pcr in options.get("pcrs", ()):
            if not 0 <= pcr <= 23:
                problems.error("encryption:", f"the TPM has no PCR {pcr}")


def _filesystem(values: Values, problems: Problems) -> None:
    spec = values.get("filesystem") or {}
    kind = spec.get("type", "none")
    if kind not in _FILESYSTEMS:
        problems.error("filesystem.type", f"{kind} is not supported")
    elif spec.get("projectQuotaSupport") and kind == "ext4":
        problems.error("filesystem.projectQuotaSupport", "is for xfs only")


def user_volume(values: Values, problems: Problems) -> None:
    """Check a UserVolumeConfig."""
    _name(values, problems)
    kind = values.get("volumeType", "partition")
    if kind == "directory":
        for part in ("provisioning", "encryption", "filesystem", "mount"):
            if values.get(part):
                problems.error(part, "means nothing for a directory")
    elif kind in ("disk", "partition"):
        _provisioning(values, problems, sizes=kind == "partition")
        _filesystem(values, problems)
        _encryption(values, problems)
    else:
        problems.error("volumeType", f"{kind} is not supported")


def whole_volume(values: Values, problems: Problems) -> None:
    """Check a RawVolumeConfig or a SwapVolumeConfig."""
    _name(values, problems)
    _provisioning(values, problems)
    _encryption(values, problems)


def system_volume(values: Values, problems: Problems) -> None:
    """Check a VolumeConfig."""
    name = values.get("name", "")
    if name not in _SYSTEM_VOLUMES:
        problems.error("name", f"must be one of {', '.join(_SYSTEM_VOLUMES)}")
        return
    if name == "STATE":
        if values.get("provisioning"):
            problems.error("provisioning", "cannot be set for STATE")
        if any(key.get("lockToState") for key in (values.get("encryption") or {}).get("keys", ())):
            problems.error("encryption:", "STATE cannot lock a key to itself")
    _provisioning(values, problems, needed=False)
    _encryption(values, problems)


def existing_volume(values: Values, problems: Problems) -> None:
    """Check an ExistingVolumeConfig."""
    _name(values, problems, limited=False)
    match = ((values.get("discovery") or {}).get("volumeSelector") or {}).get("match", "")
    if not match:
        problems.error("discovery.volumeSelector.match", "is missing: say which volume")
    elif problem := expression_problem(match, VOLUME):
        problems.error("discovery.volumeSelector.match:", problem)


def external_volume(values: Values, problems: Problems) -> None:
    """Check an ExternalVolumeConfig."""
    _name(values, problems)
    kind = values.get("filesystemType", "none")
    if kind != "virtiofs":
        problems.error("filesystemType", f"{kind} is not supported")
    elif not ((values.get("mount") or {}).get("virtiofs") or {}).get("tag"):
        problems.error("mount.virtiofs.tag", "is missing")


def zswap(values: Values, problems: Problems) -> None:
    """Check a ZswapConfig."""
    if not 0 <= values.get("maxPoolPercent", 0) <= 100:
        problems.error("maxPoolPercent", "must be from 0 to 100")


CHECKS: dict[str, Callable[[Values, Problems], None]] = {
    "VolumeConfig": system_volume,
    "UserVolumeConfig": user_volume,
    "RawVolumeConfig": whole_volume,
    "SwapVolumeConfig": whole_volume,
    "ExistingVolumeConfig": existing_volume,
    "ExternalVolumeConfig": external_volume,
    "ZswapConfig": zswap,
}
