"""What may be shown of a configuration: a value that is known to come from no secret. All others are veiled.

Whether a value of ours comes from a secret is tried out: the configuration is made again with other secrets in place of
all of them, and what is not the same then depends on one, whatever a template has done with it. Where a machine's
values come from is not known, so of those only such are shown as our own configuration shows too, or as have a form or
a place that secrets do not have.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from machineconfig.forms import is_harmless
from machineconfig.marks import Mask
from machineconfig.paths import MAIN, Documents, Path, leaves
from machineconfig.sensitive import derives, is_secret
from machineconfig.trace import MISSING

Place = tuple[str, Path]
"""A document's title and a path in it: of a value, or of a map or document that is veiled as a whole."""


@dataclass(frozen=True, eq=False)
class Veiled:
    """A value that is compared and not shown. `certain`: it is known to be secret, and not just not known."""

    value: Any = field(repr=False)
    certain: bool = True

    def __eq__(self, other: object) -> bool:
        """Compare what is behind the veil."""
        return bool(self.value == opened(other))

    def __hash__(self) -> int:
        """Refuse: values of a configuration are no keys."""
        raise TypeError("a veiled value is no key")

    def __str__(self) -> str:
        """Say why there is nothing to see."""
        return "(secret)" if self.certain else "(not shown)"


def opened(value: Any) -> Any:
    """The value itself, for comparing it."""
    return value.value if isinstance(value, Veiled) else value


def dependent(documents: Documents, twins: Sequence[Documents | None]) -> frozenset[Place]:
    """The places of what is not the same in the twins, which are made with other secrets.

    A twin that could not be made (None) says that everything may depend on a secret.
    """
    found: set[Place] = set()
    for title, values in documents.items():
        others = [MISSING if twin is None else twin.get(title, MISSING) for twin in twins]
        found.update((title, path) for path in _unlike((), values, others))
    return frozenset(found)


def suspicious(documents: Documents, mask: Mask) -> frozenset[Place]:
    """The places of what looks like a secret, stands where secrets do, or holds a known one."""
    return frozenset((title, path) for title, path, value in _all(documents) if is_secret(path, (value,), mask))


def unknown(live: Documents, ours: Documents, mask: Mask) -> dict[Place, bool]:
    """The places of a machine's configuration that are not to be shown, and whether they are known to be secret.

    `ours` is what it would get, veiled. Beside a secret of ours nothing of the machine's is shown, in a list neither.
    """
    secret = {(title, general(path)) for title, path, value in _all(ours) if isinstance(value, Veiled)}
    around = {(title, path[:length]) for title, path in secret for length in range(len(path) + 1)}
    public = {value for _, _, value in _all(ours) if isinstance(value, str)}
    known = {(title, general(path[:length])) for title, path, _ in _all(ours) for length in range(len(path) + 1)}
    kinds = {kind_of(title) for title, values in ours.items() if isinstance(values, Veiled)}
    found: dict[Place, bool] = {}
    for title, path, value in _all(live):
        place = general(path)
        if (title, ()) not in known and (kind_of(title) in kinds or derives(title.partition("/")[2], mask)):
            found[title, ()] = True
            continue
        beside = (title, place) in around or any((title, place[:at]) in secret for at in range(len(place)))
        keys = (at for at, part in enumerate(path) if isinstance(part, str) and (title, place[: at + 1]) not in known)
        named = next((at for at in keys if derives(str(path[at]), mask)), None)
        if named is not None:  # a secret is the key: the map is veiled as a whole
            found[title, path[:named]] = True
        elif beside or is_secret(path, (value,), mask):
            found[title, path] = True
        elif not isinstance(value, str | int | float) or isinstance(value, bool) or value in public:
            continue
        elif derives(str(value), mask):
            found[title, path] = True
        elif isinstance(value, str) and not is_harmless(title, place, value):
            found[title, path] = False
    return found


def veil(documents: Documents, places: Mapping[Place, bool] | Iterable[Place]) -> Documents:
    """The documents with a veil over the values at some places. A document under a veil loses its name too."""
    certain = places if isinstance(places, Mapping) else dict.fromkeys(places, True)
    shown: dict[str, Any] = {}
    for title, values in documents.items():
        below = {path: sure for (at, path), sure in certain.items() if at == title}
        name = f"{kind_of(title)}/(secret {len(shown)})" if () in below and title != MAIN else title
        shown[name] = _veiled((), values, below) if below else values
    return shown


def kind_of(title: str) -> str:
    """A document's title without its name."""
    return title.partition("/")[0]


def general(path: Path) -> Path:
    """A path without the numbers of list entries: entries move."""
    return tuple("*" if isinstance(part, int) else part for part in path)


def _all(documents: Documents) -> Iterator[tuple[str, Path, Any]]:
    for title, values in documents.items():
        for path, value in leaves(values):
            yield title, path, value


def _unlike(path: Path, value: Any, others: list[Any]) -> Iterator[Path]:
    if isinstance(value, dict) and value:
        if any(not isinstance(other, dict) or value.keys() - other.keys() for other in others):
            yield path  # keys that are not the same may be secrets themselves
            return
        for key, item in value.items():
            yield from _unlike((*path, key), item, [other[key] for other in others])
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            there = [other[index] if isinstance(other, list) and index < len(other) else MISSING for other in others]
            yield from _unlike((*path, index), item, there)
    elif any(type(other) is not type(value) or other != value for other in others):
        yield path


def _veiled(path: Path, value: Any, places: Mapping[Path, bool]) -> Any:
    if path in places:
        return Veiled(value, places[path])
    if isinstance(value, dict):
        return {key: _veiled((*path, key), item, places) for key, item in value.items()}
    if isinstance(value, list):
        return [_veiled((*path, index), item, places) for index, item in enumerate(value)]
    return value
