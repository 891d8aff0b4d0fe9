"""The structure of a machine configuration: which keys, which types, in which release of Talos.

The tables are data files, one for each minor release, written from the types of Talos's own library (`make structure`)
or, where that cannot be had, from what their `source` says.
"""

import json
from pkgutil import get_data
from typing import Any

from machinery.scalars import NAMES
from machinery.structure.notation import (
    Anything,
    Field,
    ListOf,
    MapOf,
    Release,
    Scalar,
    Struct,
    Type,
    read_tables,
)

MINORS = ((1, 10), (1, 11), (1, 12), (1, 13))


def _table(minor: tuple[int, int]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(get_data(__name__, f"releases/{minor[0]}.{minor[1]}.json") or b"")
    return found


_TABLES = {minor: _table(minor) for minor in MINORS}
STRUCTS = read_tables({minor: table["structures"] for minor, table in _TABLES.items()}, NAMES)
V1ALPHA1 = STRUCTS["V1Alpha1"]
DOCUMENTS = {name: struct for name, struct in STRUCTS.items() if struct.document}
CONFLICTS: dict[str, tuple[str, ...]] = {
    kind: tuple(others) for table in _TABLES.values() for kind, others in table["conflicts"].items()
}
"""Kinds of which two documents of the same name exclude each other."""


def is_named(kind: str) -> bool:
    """Tell whether documents of a kind are told apart by their name."""
    struct = DOCUMENTS.get(kind)
    return struct is not None and any(field.name == "name" for field in struct.fields)
