"""Places in a machine configuration, as people write them: `machine.network.interfaces[0].addresses`.

A document with a kind goes in front, with a colon: `UserVolumeConfig/local:provisioning.minSize`. Without one the
main document is meant. A key with a dot or a bracket in it can be put in brackets, as in
`machine.sysctls["net.core.somaxconn"]`.
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from findings import Path

MAIN = "v1alpha1"
"""The title of the document without a kind."""
Documents = Mapping[str, Any]
"""Plain values by the document's title."""


def written(title: str, path: Path) -> str:
    """A place as people write it."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif not part or any(sign in part for sign in ".[]:\"' "):
            text += f"[{json.dumps(part)}]"
        else:
            text += f".{part}"
    text = text.removeprefix(".")
    if title == MAIN:
        return text or MAIN
    return f"{title}:{text}" if text else title


def title_of(values: Mapping[str, Any]) -> str:
    """The title of a document by its values: `v1alpha1`, `HostnameConfig`, `UserVolumeConfig/local`."""
    kind, name = values.get("kind"), values.get("name")
    if not isinstance(kind, str) or not kind:
        return MAIN
    return f"{kind}/{name}" if isinstance(name, str) and name else kind


def find(documents: Documents, text: str) -> tuple[str, Path] | None:
    """The document and the path that a text means, or None if there is no such place."""
    wanted = bare(text)
    return next((place for place in places(documents) if bare(written(*place)) == wanted), None)


def bare(text: str) -> str:
    """A place without brackets and quotes, in which all ways to write it are one."""
    return re.sub(r"[\[\].\"']+", ".", text.removeprefix(f"{MAIN}:")).strip(".:")


def places(documents: Documents) -> Iterator[tuple[str, Path]]:
    """Every place, the documents themselves included."""
    for title, values in documents.items():
        yield from ((title, path) for path in _places(values, ()))


def near(documents: Documents, text: str, also: Iterable[str] = ()) -> list[str]:
    """Places that are written almost like a text, the nearest first."""
    known = dict.fromkeys(also)
    known |= dict.fromkeys(written(*place) for place in places(documents))
    tail = text.rpartition(":")[2].rpartition(".")[2]
    same_end = [place for place in known if tail and place.endswith((f".{tail}", f":{tail}"))]
    close = difflib.get_close_matches(text, list(known), n=5, cutoff=0.6)
    return list(dict.fromkeys([*close[:3], *same_end, *close]))[:5]


def value_at(values: Any, path: Path) -> Any:
    """The value at a path; raises LookupError."""
    for part in path:
        fits = isinstance(values, list) if isinstance(part, int) else isinstance(values, dict)
        if not fits:
            raise KeyError(part)
        values = values[part]
    return values


def all_at(values: Any, *steps: str) -> Iterator[tuple[Path, Any]]:
    """Every value at a place with its path, but for null; the step `*` is any key of a map and any entry of a list."""
    if not steps and values is not None:
        yield (), values
    for part, item in _children(values) if steps else ():
        if steps[0] in ("*", part):
            yield from (((part, *path), value) for path, value in all_at(item, *steps[1:]))


def leaves(values: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every scalar and every empty list or map, in their order."""
    if isinstance(values, dict) and values:
        for key, item in values.items():
            yield from leaves(item, (*path, key))
    elif isinstance(values, list) and values:
        for index, item in enumerate(values):
            yield from leaves(item, (*path, index))
    else:
        yield path, values


def _places(values: Any, path: Path) -> Iterator[Path]:
    yield path
    for part, item in _children(values):
        yield from _places(item, (*path, part))


def _children(values: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(values, dict):
        return values.items()
    return enumerate(values) if isinstance(values, list) else ()
