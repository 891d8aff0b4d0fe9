"""What is different between two configurations: by document, then by place, what is lost before what is new."""

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from machineconfig.paths import MAIN, Documents, Path, leaves, written
from machineconfig.redaction import Redacted, opened
from machineconfig.trace import MISSING

_NAMES = ("interface", "name", "vlanId", "path", "network", "deviceSelector", "address", "key", "url")
"""Keys that tell the entries of a list of maps apart, the best first."""
_SIDES = {"removed": 0, "changed": 1, "added": 2}


@dataclass(frozen=True)
class Change:
    """One value that is different. A value that is not there is MISSING; the path of what is removed is the old one."""

    document: str
    path: Path
    old: Any = field(default=MISSING, repr=False)
    new: Any = field(default=MISSING, repr=False)
    reordered: bool = False
    """Whether the values are names of entries in another order."""

    @property
    def kind(self) -> str:
        """`removed`, `changed` or `added`."""
        if self.new is MISSING:
            return "removed"
        return "added" if self.old is MISSING else "changed"

    @property
    def place(self) -> str:
        """The document and the path, as people write them."""
        return written(self.document, self.path)


def compare(old: Documents, new: Documents) -> tuple[Change, ...]:
    """The changes from `old` to `new`, both plain values by the document's title, in the order to read them in."""
    changes: list[Change] = []
    for title in old.keys() | new.keys():
        changes.extend(_values(title, (), old.get(title, MISSING), new.get(title, MISSING)))
    return tuple(sorted(changes, key=_order))


def _order(change: Change) -> tuple[object, ...]:
    path = tuple((isinstance(part, str), str(part) if isinstance(part, str) else part) for part in change.path)
    return change.document != MAIN, change.document, _SIDES[change.kind] > 0, path


def _values(title: str, path: Path, old: Any, new: Any) -> Iterator[Change]:
    if old is MISSING or new is MISSING:
        there = new if old is MISSING else old
        for below, value in leaves(there):
            place = (*path, *below)
            yield Change(title, place, new=value) if old is MISSING else Change(title, place, old=value)
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _values(title, (*path, key), old.get(key, MISSING), new.get(key, MISSING))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(title, path, old, new)
    elif opened(old) != opened(new) or type(opened(old)) is not type(opened(new)):
        if any(isinstance(each, Redacted) and isinstance(each.value, dict | list) for each in (old, new)):
            yield Change(title, path, _redacted(old), _redacted(new))
        elif not _is_one_value(old, new):
            yield from _values(title, path, old, MISSING)
            yield from _values(title, path, MISSING, new)
        else:
            yield Change(title, path, old, new)


def _lists(title: str, path: Path, old: list[Any], new: list[Any]) -> Iterator[Change]:
    name = _name(old, new)
    pairs = _by_name(name, old, new) if name else list(_by_likeness(old, new))
    for left, right in pairs:
        if right is None:
            yield from _values(title, (*path, left or 0), old[left or 0], MISSING)
        elif left is None or _is_one_value(old[left], new[right]):
            yield from _values(title, (*path, right), MISSING if left is None else old[left], new[right])
        else:
            yield from _values(title, (*path, left), old[left], MISSING)
            yield from _values(title, (*path, right), MISSING, new[right])
    both = [left for left, right in pairs if left is not None and right is not None]
    if name and both != sorted(both):
        yield Change(title, path, [item[name] for item in old], [item[name] for item in new], reordered=True)


def _is_one_value(old: Any, new: Any) -> bool:
    """Whether two values are compared as one, and not told as one that is lost and one that is new."""
    kinds = [next((kind for kind in (dict, list) if isinstance(opened(each), kind)), None) for each in (old, new)]
    return kinds[0] is kinds[1]


def _name(old: list[Any], new: list[Any]) -> str | None:
    """The key that tells the entries of both lists apart."""
    if not all(isinstance(item, dict) for item in (*old, *new)):
        return None
    for name in _NAMES:
        sides = [[_text(item.get(name)) for item in side] for side in (old, new)]
        if all(name in item for item in (*old, *new)) and all(len(set(side)) == len(side) for side in sides):
            return name
    return None


def _by_name(name: str, old: list[Any], new: list[Any]) -> list[tuple[int | None, int | None]]:
    left = {_text(item[name]): at for at, item in enumerate(old)}
    right = [_text(item[name]) for item in new]
    lost = [(at, None) for name, at in left.items() if name not in right]
    return [*lost, *((left.get(name), at) for at, name in enumerate(right))]


def _by_likeness(old: list[Any], new: list[Any]) -> Iterator[tuple[int | None, int | None]]:
    before, after = ([_text(item) for item in side] for side in (old, new))
    for what, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        paired = min(b - a, d - c) if b - a == d - c else 0
        yield from zip(range(a, a + paired), range(c, c + paired), strict=True)
        yield from ((at, None) for at in range(a + paired, b))
        yield from ((None, at) for at in range(c + paired, d))


def _text(value: Any) -> str:
    """A value as it is compared with others, redacted or not."""
    return json.dumps(
        opened(value), sort_keys=True, default=lambda each: opened(each) if isinstance(each, Redacted) else str(each)
    )


def _redacted(value: Any) -> Redacted:
    return value if isinstance(value, Redacted) else Redacted(value)
