"""Lists inside maps whose contents Talos hands on as they are: patches append to them, also to what Talos generates."""

from collections.abc import Iterator
from typing import Any

from findings import Finding
from machineconfig.checks.configuration import Final
from machineconfig.paths import MAIN, Path, written
from machineconfig.redaction import looks_secret

_CURE = "say it in one place: Talos appends lists"
_ROOTS: tuple[Path, ...] = (
    ("machine", "baseRuntimeSpecOverrides"),
    ("machine", "kubelet", "extraConfig"),
    ("machine", "kubelet", "credentialProviderConfig"),
    ("cluster", "apiServer", "admissionControl", "configuration"),
    ("cluster", "apiServer", "auditPolicy"),
    ("cluster", "apiServer", "authorizationConfig", "webhook"),
    ("cluster", "scheduler", "config"),
)
"""The free-form maps that patches merge into one. Pods and seccomp profiles stand side by side instead."""
_AUDIT = ("cluster", "apiServer", "auditPolicy")
_KUBELET = ("machine", "kubelet", "extraConfig")

_NAMES = {
    "profiles": ("schedulerName",),
    "registerWithTaints": ("key", "effect"),
    "reservedMemory": ("numaNode",),
    "matchConditions": ("expression",),
    "rlimits": ("type",),
}
"""What no two entries of a list may have in common, where that is not their name."""
_IN_ORDER = ("args", "command")
"""Lists in which what stands twice is meant."""
_REFUSED = ("registerWithTaints", "reservedMemory")
"""The lists in which kubelet or the API server refuses what stands twice; it passes over the rest."""


def says_each_entry_once(final: Final) -> Iterator[Finding]:
    """No list in a free-form map has an entry twice, or two of one name: Kubernetes refuses it and does not start."""
    for path, index, first in _doubles(final):
        if not _is_passed_over(path):
            message = f"appears twice in {written(MAIN, path)}, first in {final.place_of((*path, first))}"
            yield _finding(final, message, path, index)


def repeats_nothing_that_is_passed_over(final: Final) -> Iterator[Finding]:
    """No audit rule and no entry of kubelet's settings is repeated: the first one counts, the second does nothing."""
    for path, index, first in _doubles(final):
        if _is_passed_over(path):
            place = final.place_of((*path, first))
            yield _finding(final, f"does nothing in {written(MAIN, path)}, where {place} says it already", path, index)


def _finding(final: Final, message: str, path: Path, index: int) -> Finding:
    shown = _shown(_at(final, (*path, index)), path)
    return final.finding(f"{shown or f'entry {index}'} {message}", _CURE, path=(*path, index), value=shown)


def _is_passed_over(path: Path) -> bool:
    return path[:3] == _AUDIT or (path[:3] == _KUBELET and path[3] not in _REFUSED)


def _shown(item: Any, path: Path) -> str:
    if isinstance(item, dict):
        item = item.get("name") or item.get("schedulerName") or item.get("key") or ""
    return "" if isinstance(item, list) or looks_secret(path, item) else str(item)


def _at(final: Final, path: Path) -> Any:
    value: Any = final.configuration.v1alpha1
    for part in path:
        value = value[part]
    return value


def _doubles(final: Final) -> Iterator[tuple[Path, int, int]]:
    """Each list with the place of an entry that stands in it before, and the place of the first one."""
    values = final.configuration.v1alpha1
    for place, items in (each for root in _ROOTS for path, free in _free(values, root) for each in _lists(free, path)):
        if place[-1] not in _IN_ORDER:
            first: dict[str, int] = {}
            for index, item in enumerate(items):
                same = _identity(item, str(place[-1]))
                if same in first:
                    yield place, index, first[same]
                first.setdefault(same, index)


def _free(value: Any, steps: Path, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values below some keys, of a list those of every entry."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _free(item, steps, (*path, index))
    elif not steps:
        yield path, value
    elif isinstance(value, dict) and steps[0] in value:
        yield from _free(value[str(steps[0])], steps[1:], (*path, steps[0]))


def _lists(value: Any, path: Path) -> Iterator[tuple[Path, list[Any]]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _lists(item, (*path, key))
    elif isinstance(value, list):
        yield path, value
        for index, item in enumerate(value):
            yield from _lists(item, (*path, index))


def _identity(item: Any, field: str) -> str:
    if isinstance(item, dict):
        names = _NAMES.get(field, ("name",))
        if any(item.get(name) for name in names):
            return repr([item.get(name) for name in names])
    return repr(_ordered(item))


def _ordered(value: Any) -> Any:
    """A value in which the order of keys does not count."""
    if isinstance(value, dict):
        return sorted((str(key), repr(_ordered(item))) for key, item in value.items())
    return [_ordered(item) for item in value] if isinstance(value, list) else value
