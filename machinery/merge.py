"""Merging a patch into a configuration, field by field, by the rules of Talos's strategic merge.

What a patch leaves out or sets to zero changes nothing, except where the field may be unset (`?`) or is a boolean;
lists are appended, maps merged. Expressions and byte sizes are set even by a patch that leaves them out of a
structure it touches, so a `provisioning` block loses them. Nothing of the patch is shared with the result.
"""

from typing import Any

from machinery.errors import ConfigError
from machinery.scalars import KINDS
from machinery.structure import Field, ListOf, MapOf, Release, Scalar, Struct
from machinery.urls import Url, go_url
from machinery.values import copied


def merge(kind: Struct, left: dict[str, Any], right: dict[str, Any], release: Release, path: str = "") -> None:
    """Merge `right` into `left`, both values of `kind`; raise ConfigError where Talos cannot merge."""
    for name, field in kind.at(release).items():
        if isinstance(field.type, Scalar) and KINDS[field.type.name].unmergeable and not field.optional:
            raise ConfigError(f"{path or kind.name}: {name} cannot be merged: write the whole in one patch")
        if name in right:
            _field(field, left, right[name], release, f"{path}.{name}" if path else name)
        elif name in left and not field.optional:
            _left_out(field, left, release, path)


def _left_out(field: Field, left: dict[str, Any], release: Release, path: str) -> None:
    kind = field.type
    if isinstance(kind, Scalar) and KINDS[kind.name].always:
        del left[field.name]
    elif isinstance(kind, Struct) and _has_always(kind, release):
        merge(kind, left[field.name], {}, release, f"{path}.{field.name}" if path else field.name)
        if not left[field.name]:
            del left[field.name]


def _has_always(kind: Struct, release: Release) -> bool:
    return any(
        (isinstance(field.type, Scalar) and KINDS[field.type.name].always)
        or (isinstance(field.type, Struct) and not field.optional and _has_always(field.type, release))
        for field in kind.at(release).values()
    )


def _field(field: Field, left: dict[str, Any], value: Any, release: Release, path: str) -> None:
    kind, name = field.type, field.name
    if isinstance(kind, ListOf) and kind.key and value:
        _list(kind, left.setdefault(name, []), value, release, path)
    elif field.replaces or name not in left:
        left[name] = copied(value)
    elif isinstance(kind, Scalar):
        left[name] = _scalar(kind, left[name], value, path)
    elif isinstance(kind, Struct):
        merge(kind, left[name], value, release, path)
    elif isinstance(kind, ListOf):
        _list(kind, left[name], value, release, path)
    elif isinstance(kind, MapOf):
        _map(kind, left[name], value, release, path)
    else:
        _anything(left[name], value, path)


def _scalar(kind: Scalar, left: Any, right: Any, path: str) -> Any:
    if KINDS[kind.name].unmergeable:
        raise ConfigError(f"{path}: a second patch cannot change it: set it in one place")
    if kind.name == "url":
        return _url(go_url(left), go_url(right), path)
    if kind.name == "size" and "%" in right and "%" not in left:
        return left
    return right


def _url(left: Url, right: Url, path: str) -> str:
    if left.user and right.user:
        raise ConfigError(f"{path}: a second patch cannot change the user in it")
    return left.merged(right).text


def _list(kind: ListOf, left: list[Any], right: list[Any], release: Release, path: str) -> None:
    if not kind.key:
        left.extend(copied(right))
        return
    # Items that replace others look for them among those that were there, the last of a name first.
    places = {item.get(kind.key): at for at, item in enumerate(left)} if kind.replaces else {}
    for item in right:
        if kind.replaces:
            at = places.get(item.get(kind.key), len(left))
            left[at : at + 1] = [copied(item)]
            continue
        if item is None or None in left:
            raise ConfigError(f"{path}: an empty entry cannot be merged")
        same = next((other for other in left if matches(kind.key.split("|"), other, item)), None)
        if same is None:
            left.append(copied(item))
        elif isinstance(kind.item, Struct):
            merge(kind.item, same, item, release, path)


def matches(keys: list[str], left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Compare by the first key that the right item has; a single key also matches where both lack it."""
    if len(keys) == 1:
        return bool(left.get(keys[0]) == right.get(keys[0]))
    first = next((key for key in keys if right.get(key) is not None), None)
    if first is None or (isinstance(right[first], dict) and "physical" in right[first]):
        # Talos compares where `physical` is stored, not what it says, so such a selector never matches.
        return False
    return bool(left.get(first) == right[first])


def _map(kind: MapOf, left: dict[str, Any], right: dict[str, Any], release: Release, path: str) -> None:
    for key, value in right.items():
        old = left.get(key)
        if kind.overrides or old is None:
            left[key] = copied(value)
        elif isinstance(kind.item, Struct):
            if value is not None:
                merge(kind.item, old, value, release, f"{path}.{key}")
        elif isinstance(kind.item, Scalar) and (value or isinstance(value, bool)):
            left[key] = value


def _anything(left: dict[str, Any], right: dict[str, Any], path: str) -> None:
    for key, value in right.items():
        old = left.get(key)
        if old is None:
            left[key] = copied(value)
        elif type(old) is not type(value):
            raise ConfigError(f"{path}.{key}: a patch sets another type than it has")
        elif isinstance(value, dict):
            _anything(old, value, f"{path}.{key}")
        elif isinstance(value, list):
            old.extend(copied(value))
        elif value or isinstance(value, bool):
            left[key] = value
