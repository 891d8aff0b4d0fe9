"""The notation of the structure tables: how a text says what a field holds, and how releases are put together.

A table is the data file of one minor release. Its structures (`document X`: those of a kind of documents) have their
fields in the order in which Talos writes them, each with a text:

    string, int, duration ...   a scalar (machinery.scalars)
    Name                        a structure of the table
    any                         a map of anything
    [T]  {T}                    a list of T, a map from string to T
    T?                          may be unset, which is not the same as empty: an empty one is kept, written and merged
    T!                          written even when empty
    T=                          a patch replaces it, where it would be merged or appended
    [T]@key  [T]@key=           items with the same `key` are merged (or replaced), the others appended
    T since 1.12.4              not in the patch releases before
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

Release: TypeAlias = tuple[int, int, int]
NEWEST: Release = (1, 99, 0)
OLDEST: Release = (1, 0, 0)


@dataclass(frozen=True)
class Scalar:
    """One value; `name` is its key in machinery.scalars."""

    name: str


@dataclass(frozen=True)
class Anything:
    """A map whose contents Talos hands on as they are."""


@dataclass(frozen=True)
class ListOf:
    """A list; items with the same `key` are merged, or replaced where `replaces` is set."""

    item: "Type"
    item_optional: bool = False
    key: str = ""
    replaces: bool = False


@dataclass(frozen=True)
class MapOf:
    """A map from strings; `overrides` takes values of a patch as they are, even empty ones."""

    item: "Type"
    item_optional: bool = False
    overrides: bool = False


@dataclass
class Struct:
    """A structure with named fields; `document` where it is a document of its own, known since a release."""

    name: str
    document: bool = False
    since: Release = OLDEST
    fields: list["Field"] = field(default_factory=list)

    @cached_property
    def by_name(self) -> dict[str, "Field"]:
        """The fields by key, of several the oldest: one whose type a release changes stands there more than once."""
        return {item.name: item for item in reversed(self.fields)}

    def at(self, release: Release) -> dict[str, "Field"]:
        """Return the fields that a release knows, by key, in the order in which they are written."""
        found = self._by_release.get(release)
        if found is None:
            found = {item.name: item for item in self.fields if item.since <= release <= item.until}
            self._by_release[release] = found
        return found

    _by_release: dict[Release, dict[str, "Field"]] = field(default_factory=dict, repr=False)


Type: TypeAlias = Scalar | Anything | ListOf | MapOf | Struct


@dataclass(frozen=True)
class Field:
    """One key of a structure."""

    name: str
    type: Type
    optional: bool = False
    written: bool = False
    replaces: bool = False
    since: Release = OLDEST
    until: Release = NEWEST


_LIST = re.compile(r"\[(?P<item>[\w.]+)(?P<optional>\??)\](?:@(?P<key>[\w|]+)(?P<replaces>=?))?$")
_MAP = re.compile(r"\{(?P<item>[\w.]+)(?P<optional>\??)\}(?P<overrides>=?)$")
_DOCUMENT = "document "
Minor: TypeAlias = tuple[int, int]
Table: TypeAlias = Mapping[str, Mapping[str, str]]


def read_tables(tables: Mapping[Minor, Table], scalars: frozenset[str]) -> dict[str, Struct]:
    """Return the structures of the releases given, the oldest first.

    A field says the releases that know it where not every one does that knows its structure.
    """
    structs: dict[str, Struct] = {}
    for minor, table in tables.items():
        for name in table:
            bare = name.removeprefix(_DOCUMENT)
            if bare not in structs:
                since = OLDEST if minor == next(iter(tables)) else (*minor, 0)
                structs[bare] = Struct(bare, name != bare, since)
    for struct in structs.values():
        name = f"{_DOCUMENT}{struct.name}" if struct.document else struct.name
        if struct.document:
            struct.fields = [Field("apiVersion", Scalar("string")), Field("kind", Scalar("string"), written=True)]
        known = {minor: table[name] for minor, table in tables.items() if name in table}
        struct.fields.extend(_fields(known, structs, scalars))
    return structs


def _fields(
    tables: Mapping[Minor, Mapping[str, str]], structs: dict[str, Struct], scalars: frozenset[str]
) -> Iterator[Field]:
    minors = list(tables)
    for name in _in_order([list(table) for table in tables.values()]):
        said = [table.get(name) for table in tables.values()]
        for index, notation in enumerate(said):
            if notation is None or (index and said[index - 1] == notation):
                continue
            last = next((end for end in range(index, len(said)) if said[end] != notation), len(said)) - 1
            since = OLDEST if index == 0 else (*minors[index], 0)
            until = NEWEST if last == len(said) - 1 else (*minors[last], 999)
            yield _field(name, notation, since, until, structs, scalars)


def _in_order(names: list[list[str]]) -> list[str]:
    """Return every name once, in the newest order, with those of older releases behind what they stood behind."""
    found = list(names[-1])
    for older in reversed(names[:-1]):
        for before, name in zip([None, *older], older, strict=False):
            if name not in found:
                found.insert(found.index(before) + 1 if before else 0, name)
    return found


def _field(
    name: str, text: str, since: Release, until: Release, structs: dict[str, Struct], scalars: frozenset[str]
) -> Field:
    notation, _, patch = text.partition(" since ")
    if patch:
        since = _release(patch)
    bare = notation if "@" in notation else notation.rstrip("?!=")
    flags = notation[len(bare) :]
    if bare.startswith("{") and "=" in flags:  # which is the map's own
        bare, flags = f"{bare}=", flags.replace("=", "", 1)
    return Field(name, _type(bare, structs, scalars), "?" in flags, "!" in flags, "=" in flags, since, until)


def _type(notation: str, structs: dict[str, Struct], scalars: frozenset[str]) -> Type:
    if match := _LIST.match(notation):
        item, optional = _type(match["item"], structs, scalars), bool(match["optional"])
        return ListOf(item, optional, match["key"] or "", bool(match["replaces"]))
    if match := _MAP.match(notation):
        return MapOf(_type(match["item"], structs, scalars), bool(match["optional"]), bool(match["overrides"]))
    if notation == "any":
        return Anything()
    return Scalar(notation) if notation in scalars else structs[notation]


def _release(text: str) -> Release:
    major, minor, patch = (int(part) for part in text.split("."))
    return major, minor, patch
