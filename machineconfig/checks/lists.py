"""Lists that several patches fill: Talos appends what each of them says, and takes nothing for said already."""

from collections.abc import Iterator

from findings import Finding
from machineconfig.checks.subject import Part, Subject
from machineconfig.checks.typed import struct_of
from machineconfig.deletes import DELETE, MARK
from machineconfig.documents import Entry
from machinery.structure import ListOf, MapOf, Struct, Type

_Key = tuple[object, ...]
_Known = dict[_Key, dict[str, tuple[Part, Entry]]]

# What tells the entries of a list apart, where they are more than text.
_NAMES = {
    "inlineManifests": "name",
    "extraMounts": "destination",
    "files": "path",
    "modules": "name",
    "disks": "device",
    "extensions": "image",
    "extraVolumes": "mountPath",
    "authorizationConfig": "name",
    "seccompProfiles": "name",
    "destinations": "endpoint",
    "nameservers": "address",
    "configFiles": "mountPath",
}

_SETS = frozenset(("certSANs", "validSubnets", "advertisedSubnets", "listenSubnets", "extraManifests"))
"""Lists in which Talos takes what stands twice for one: it does no harm."""


def says_each_entry_once(subject: Subject) -> Iterator[Finding]:
    """No list that patches append to has an entry twice, or two entries of one name, where that matters."""
    known: _Known = {}
    for part in subject.parts:
        struct = struct_of(part.document)
        if struct is not None:
            place = (part.document.kind, part.document.name)
            yield from _below(subject, part, part.document.root, struct, place, known)


def _below(
    subject: Subject, part: Part, entry: Entry, kind: Type, place: _Key, known: _Known, field: str = ""
) -> Iterator[Finding]:
    mark = entry.get(MARK)
    if mark is not None and mark.text == DELETE:
        for each in [each for each in known if each[: len(place)] == place]:
            del known[each]
        return
    if isinstance(kind, ListOf):
        yield from _list(subject, part, entry, kind, place, known, field)
    for child in entry.keys:
        name = str(child.path[-1])
        if isinstance(kind, MapOf):
            yield from _below(subject, part, child, kind.item, (*place, name), known, field)
        elif isinstance(kind, Struct):
            found = kind.by_name.get(name)
            if found is not None:
                inside = (*place, name) if not found.replaces else (*place, name, id(part))
                yield from _below(subject, part, child, found.type, inside, known, name)


def _list(
    subject: Subject, part: Part, entry: Entry, kind: ListOf, place: _Key, known: _Known, field: str
) -> Iterator[Finding]:
    if field in _SETS:
        return
    first = known.setdefault(place, {})
    for item in entry.items:
        if kind.key:
            name = next((found.text for key in kind.key.split("|") if (found := item.get(key)) is not None), "")
            inside = (*place, name) if name else (*place, id(part), item.path[-1])
            yield from _below(subject, part, item, kind.item, inside, known, field)
            continue
        same = _identity(item, field)
        if same in first:
            other, earlier = first[same]
            message = f"{_called(part, item, field)} appears twice in {field}, first in {other.place_of(earlier)}"
            cure = "say it in one place: Talos appends lists"
            yield subject.finding(part, item, message, cure, called=item.get(_NAMES.get(field, "")))
        first.setdefault(same, (part, item))
        yield from _below(subject, part, item, kind.item, (*place, id(part), item.path[-1]), known, field)


def _identity(item: Entry, field: str) -> str:
    name = item.get(_NAMES[field]) if field in _NAMES else None
    if name is not None:
        return name.text
    return repr(sorted((str(each.path[len(item.path) :]), each.text) for each in item.walk()))


def _called(part: Part, item: Entry, field: str) -> str:
    name = item.get(_NAMES[field]) if field in _NAMES else None
    return part.shown(name) if name is not None else part.shown(item) or "an entry"
