"""The notation of the structure tables: how a line says what a field holds.

A table is text. A line at the left margin names a structure (`document` before it: a document of that kind), the
indented lines below it are its fields in the order in which Talos writes them: a key, a type, and `since`/`until`
with a Talos release where not every release knows the field or the document.

    string, int, duration ...   a scalar (machinery.scalars)
    Name                        a structure of these tables
    any                         a map of anything
    [T]  {T}                    a list of T, a map from string to T
    T?                          may be unset, which is not the same as empty: an empty one is kept, written and merged
    T!                          written even when empty
    T=                          a patch replaces it, where it would be merged or appended
    [T]@key                     items with the same `key` are merged, the others appended
    + Name                      the fields of a structure that stands further up
"""

import re
from dataclasses import dataclass, field
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


_LINE = re.compile(r"(?P<name>\S+)\s+(?P<type>\S+)(?:\s+since (?P<since>[0-9.]+))?(?:\s+until (?P<until>[0-9.]+))?")
_LIST = re.compile(r"\[(?P<item>[\w.]+)(?P<optional>\??)\](?:@(?P<key>[\w|]+))?(?P<replaces>=?)$")
_MAP = re.compile(r"\{(?P<item>[\w.]+)(?P<optional>\??)\}(?P<overrides>=?)$")


def read_tables(tables: list[str], scalars: frozenset[str]) -> dict[str, Struct]:
    """Return the structures of all tables; a type may stand before it is explained."""
    structs: dict[str, Struct] = {}
    lines: list[tuple[Struct, str]] = []
    for table in tables:
        current = None
        for text in table.splitlines():
            if text and not text.startswith(" "):
                current = _head(text)
                structs[current.name] = current
            elif text.strip() and current is not None:
                lines.append((current, text.strip()))
    for struct, text in lines:
        struct.fields.extend(_fields(text, structs, scalars))
    return structs


def _head(text: str) -> Struct:
    match = re.fullmatch(r"(?P<document>document )?(?P<name>\w+)(?: since (?P<since>[0-9.]+))?", text.strip())
    if match is None:
        raise ValueError(f"not a structure: {text}")
    struct = Struct(match["name"], bool(match["document"]), _release(match["since"], OLDEST))
    if struct.document:
        struct.fields = [Field("apiVersion", Scalar("string")), Field("kind", Scalar("string"), written=True)]
    return struct


def _fields(text: str, structs: dict[str, Struct], scalars: frozenset[str]) -> list[Field]:
    if text.startswith("+ "):
        return structs[text[2:]].fields
    match = _LINE.fullmatch(text)
    if match is None:
        raise ValueError(f"not a field: {text}")
    notation = match["type"]
    optional = written = replaces = False
    while notation[-1] in "?!=" and not notation.endswith(("]=", "}=")) and "@" not in notation:
        optional, written, replaces = (
            optional or notation[-1] == "?",
            written or notation[-1] == "!",
            replaces or notation[-1] == "=",
        )
        notation = notation[:-1]
    replaces = replaces or (notation.endswith("]=") and "@" not in notation)
    kind = _type(notation, structs, scalars)
    since, until = _release(match["since"], OLDEST), _release(match["until"], NEWEST)
    return [Field(match["name"], kind, optional, written, replaces, since, until)]


def _type(notation: str, structs: dict[str, Struct], scalars: frozenset[str]) -> Type:
    if match := _LIST.match(notation):
        keyed = match["key"] or ""
        return ListOf(
            _type(match["item"], structs, scalars), bool(match["optional"]), keyed, bool(keyed and match["replaces"])
        )
    if match := _MAP.match(notation):
        return MapOf(_type(match["item"], structs, scalars), bool(match["optional"]), bool(match["overrides"]))
    if notation == "any":
        return Anything()
    if notation in scalars:
        return Scalar(notation)
    return structs[notation]


def _release(text: str | None, default: Release) -> Release:
    if text is None:
        return default
    numbers = [int(part) for part in text.split(".")]
    patch = numbers[2] if len(numbers) > 2 else (0 if default == OLDEST else 999)
    return numbers[0], numbers[1], patch
