"""Lists that several patches fill: Talos appends what each of them says, also to what it generates itself.

That goes for the fields that Talos knows, and for the lists in maps whose contents it hands on as they are.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from findings import Finding
from machineconfig.checks.configuration import Final
from machineconfig.checks.subject import HIDDEN
from machineconfig.paths import MAIN, Path, all_at, written
from machineconfig.redaction import looks_secret
from machinery.structure import ListOf, MapOf, Struct, Type

_CURE = "say it in one place: Talos appends lists"
_NAMES: dict[str, tuple[str, ...]] = {
    "inlineManifests": ("name",),
    "extraMounts": ("destination",),
    "files": ("path",),
    "modules": ("name",),
    "disks": ("device",),
    "extensions": ("image",),
    "extraVolumes": ("mountPath",),
    "authorizationConfig": ("name",),
    "seccompProfiles": ("name",),
    "destinations": ("endpoint",),
    "nameservers": ("address",),
    "configFiles": ("mountPath",),
    "profiles": ("schedulerName",),
    "registerWithTaints": ("key", "effect"),
    "reservedMemory": ("numaNode",),
    "matchConditions": ("expression",),
    "rlimits": ("type",),
}
"""What tells the entries of a list apart, where they are more than text."""
_SETS = frozenset(("certSANs", "validSubnets", "advertisedSubnets", "listenSubnets", "extraManifests"))
"""Lists in which Talos takes what is said twice for one: it does no harm."""

_AUDIT = ("cluster", "apiServer", "auditPolicy")
_KUBELET = ("machine", "kubelet", "extraConfig")
_FREE = (
    ("machine", "baseRuntimeSpecOverrides"),
    _KUBELET,
    ("machine", "kubelet", "credentialProviderConfig"),
    ("cluster", "apiServer", "admissionControl", "*", "configuration"),
    _AUDIT,
    ("cluster", "apiServer", "authorizationConfig", "*", "webhook"),
    ("cluster", "scheduler", "config"),
)
"""The free-form maps that patches merge into one. Pods and seccomp profiles stand side by side instead."""
_IN_ORDER = ("args", "command")
"""Lists in which what is said twice is meant."""
_REFUSED = ("registerWithTaints", "reservedMemory")
"""The lists in which kubelet or the API server refuses what is said twice; it passes over the rest."""


def says_each_entry_once(final: Final) -> Iterator[Finding]:
    """No list that patches append to has an entry twice, or two entries of one name, where that matters."""
    for document in final.configuration.documents:
        for path, field, items in _known_lists(document.struct, document.values, (), ""):
            names = _NAMES.get(field, ())
            for index, first in _twice(items, names):
                shown = _shown(items[index], names, (*path, *names), HIDDEN)
                place = final.place_of((*path, first), document.title)
                message = f"{shown or 'an entry'} appears twice in {field}, first in {place}"
                yield final.finding(message, _CURE, title=document.title, path=(*path, index), value=shown)


def says_each_free_entry_once(final: Final) -> Iterator[Finding]:
    """No list in a free-form map has an entry twice, or two of one name: Kubernetes refuses it and does not start."""
    for path, items, index, first in _free_doubles(final):
        if not _is_passed_over(path):
            message = f"appears twice in {written(MAIN, path)}, first in {final.place_of((*path, first))}"
            yield _finding(final, message, path, items, index)


def repeats_nothing_that_is_passed_over(final: Final) -> Iterator[Finding]:
    """No audit rule and no entry of kubelet's settings is repeated: the first one counts, the second does nothing."""
    for path, items, index, first in _free_doubles(final):
        if _is_passed_over(path):
            message = f"does nothing in {written(MAIN, path)}, where {final.place_of((*path, first))} says it already"
            yield _finding(final, message, path, items, index)


def _finding(final: Final, message: str, path: Path, items: list[Any], index: int) -> Finding:
    shown = _shown(items[index], ("name", "schedulerName", "key"), path, "")
    return final.finding(f"{shown or f'entry {index}'} {message}", _CURE, path=(*path, index), value=shown)


def _is_passed_over(path: Path) -> bool:
    return path[:3] == _AUDIT or (path[:3] == _KUBELET and path[3] not in _REFUSED)


def _shown(item: Any, names: Sequence[str], path: Path, hidden: str) -> str:
    """The name of an entry, or an entry that is text."""
    if isinstance(item, dict):
        item = next((item[name] for name in names if item.get(name)), "")
    text = "" if isinstance(item, list) else str(item)
    return hidden if looks_secret(path, text) else text


def _known_lists(kind: Type, value: Any, path: Path, field: str) -> Iterator[tuple[Path, str, list[Any]]]:
    """The lists that Talos appends to, but for those that it merges by a key, with the field of each."""
    if isinstance(kind, ListOf) and isinstance(value, list) and field not in _SETS:
        if not kind.key:
            yield path, field, value
        for index, item in enumerate(value):
            yield from _known_lists(kind.item, item, (*path, index), field)
    for key, item in value.items() if isinstance(value, dict) else ():
        if isinstance(kind, MapOf):
            yield from _known_lists(kind.item, item, (*path, key), field)
        elif isinstance(kind, Struct) and key in kind.by_name:
            yield from _known_lists(kind.by_name[key].type, item, (*path, key), key)


def _free_doubles(final: Final) -> Iterator[tuple[Path, list[Any], int, int]]:
    """Each free-form list with the index of an entry that is in it before, and of the first one."""
    for root in _FREE:
        for _, path, free in final.all_at(*root):
            for below, items in _free_lists(free):
                field = str((*path, *below)[-1])
                for index, first in _twice(items, _NAMES.get(field, ("name",))) if field not in _IN_ORDER else ():
                    yield (*path, *below), items, index, first


def _free_lists(value: Any) -> Iterator[tuple[Path, list[Any]]]:
    if isinstance(value, list):
        yield (), value
    for part, item in all_at(value, "*"):
        yield from (((*part, *path), items) for path, items in _free_lists(item))


def _twice(items: list[Any], names: Sequence[str]) -> Iterator[tuple[int, int]]:
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        named = isinstance(item, dict) and any(item.get(name) for name in names)
        same = repr([item.get(name) for name in names] if named else _ordered(item))
        if same in first:
            yield index, first[same]
        first.setdefault(same, index)


def _ordered(value: Any) -> Any:
    """A value in which the order of keys does not count."""
    if isinstance(value, dict):
        return sorted((str(key), repr(_ordered(item))) for key, item in value.items())
    return [_ordered(item) for item in value] if isinstance(value, list) else value
