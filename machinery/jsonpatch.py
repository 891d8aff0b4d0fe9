"""JSON patches as Talos applies them, to configurations of one document only.

The library behind it is laxer than RFC 6902 in places (an absent key can be replaced, copied and tested for null; a
pointer may lack its first slash; an index may be negative) and stricter in one: what a test compares is the text of a
scalar, so that 7445.0 is not 7445.
"""

import json
import re
from typing import Any, TypeAlias

from machinery.emit import Argument, Verbatim
from machinery.errors import ConfigError
from machinery.resolve import implied

Operation: TypeAlias = dict[str, Any]
_TOKEN = re.compile(r'\s*(?:(?P<sign>[\[\]{},:])|(?P<scalar>"(?:[^"\\]|\\.)*"|[^\s\[\]{},:"]+))')
_PLAIN_BELOW = 1e21  # Go writes larger numbers with an exponent
_SLASH = re.compile(r"(?<!\\)(?:\\\\)*\\/")
_ESCAPED = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


class Scalar(str):
    """A string, number or boolean as its JSON text."""

    __slots__ = ()


_NULL = Scalar("null")


class _MissingError(Exception):
    """Why an operation does not fit."""


def read_operations(text: str, fallback: Any) -> list[Operation] | None:
    """Return the operations of a text, or None where it is no JSON patch; `fallback` is the text's YAML value."""
    try:
        json.loads(text)
    except ValueError:
        value = _of_yaml(fallback)
    else:
        value = _read(text)
    if value is None:
        return []
    if isinstance(value, list) and all(item is None or isinstance(item, dict) for item in value):
        return [item or {} for item in value]
    return None


def _of_yaml(value: Any) -> Any:
    """Return the tree of a patch in YAML, in which a null is a value of its own."""
    if not isinstance(value, list):
        return _of_value(value)
    return [
        {str(key): _NULL if item is None else _of_value(item) for key, item in each.items()}
        if isinstance(each, dict)
        else _of_value(each)
        for each in value
    ]


def apply(document: Any, operations: list[Operation]) -> Any:
    """Return a document with the operations applied; raise ConfigError for one that does not fit."""
    result = _of_value(document)
    for number, operation in enumerate(operations):
        try:
            result = _apply(result, operation)
        except _MissingError as error:
            shown = f"{_text(operation, 'op') or '(no op)'} {_text(operation, 'path') or '(no path)'}"
            detail = f": {error}" if str(error) else ""
            raise ConfigError(
                f"JSON patch operation {number} ({shown}) does not fit the configuration{detail}"
            ) from None
    return _value(result)


def _read(text: str) -> Any:
    """Return the tree of a valid JSON text, its scalars as they are written."""
    open_lists: list[list[Any]] = [[]]
    for token in _TOKEN.finditer(text):
        sign, scalar = token["sign"], token["scalar"]
        if scalar:
            open_lists[-1].append(None if scalar == "null" else Scalar(scalar))
        elif sign in "[{":
            open_lists.append([])
        elif sign in "]}":
            parts = open_lists.pop()
            names = map(json.loads, parts[::2]) if sign == "}" else ()
            open_lists[-1].append(dict(zip(names, parts[1::2], strict=True)) if sign == "}" else parts)
    return open_lists[0][0]


def _of_value(value: Any) -> Any:
    """Return the tree of a value, its scalars as Go writes them."""
    if isinstance(value, dict):
        return {str(key): _of_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_of_value(item) for item in value]
    if value is None:
        return None
    if isinstance(value, Argument) and value.lower() in ("y", "yes", "on", "n", "no", "off"):
        return Scalar("true" if value.lower() in ("y", "yes", "on") else "false")
    if isinstance(value, Verbatim) and isinstance(number := implied(value)[1], int):
        return Scalar(int(number))
    if isinstance(value, str):
        text = json.dumps(str(value), ensure_ascii=False)
        return Scalar("".join(_ESCAPED.get(sign, sign) for sign in text))
    if isinstance(value, float) and value.is_integer() and abs(value) < _PLAIN_BELOW:
        return Scalar(f"{value:.0f}")
    return Scalar(json.dumps(value))


def _value(tree: Any) -> Any:
    """Return the value of a tree."""
    if isinstance(tree, dict):
        return {key: _value(item) for key, item in tree.items()}
    if isinstance(tree, list):
        return [_value(item) for item in tree]
    if tree is None:
        return None
    if tree.startswith('"'):
        if _SLASH.search(tree):
            raise ConfigError("JSON patch: a text has an escape that Talos cannot read: write / without a backslash")
        return json.loads(tree)
    return implied(str(tree))[1]


def _text(operation: Operation, key: str) -> str:
    value = operation.get(key)
    return str(json.loads(value)) if isinstance(value, Scalar) and value.startswith('"') else ""


def _apply(document: Any, operation: Operation) -> Any:
    name = _text(operation, "op")
    if name in ("move", "copy"):
        parent, key = _place(document, operation, "from")
        value = _get(parent, key)
        if name == "move":
            _remove(parent, key)
        _add(*_place(document, operation, "path"), _copied(value))
    elif name == "replace" and operation.get("path") == '""':
        if not isinstance(operation.get("value"), (dict, list)):
            raise _MissingError("the whole can be replaced by a map or a list only")
        return _copied(operation["value"])
    elif name == "test" and operation.get("path") == '""':
        _test(document, operation.get("value"))
    elif name in ("add", "replace", "remove", "test"):
        _change(name, *_place(document, operation, "path"), operation.get("value"))
    else:
        raise _MissingError("the operation is not known")
    return document


def _change(name: str, parent: Any, key: str, value: Any) -> None:
    if name == "add":
        _add(parent, key, _copied(value))
    elif name == "remove":
        _remove(parent, key)
    elif name == "test":
        _test(_get(parent, key), value)
    else:
        _get(parent, key)
        parent[_index(key, len(parent)) if isinstance(parent, list) else key] = _copied(value)


def _copied(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _copied(item) for key, item in tree.items()}
    return [_copied(item) for item in tree] if isinstance(tree, list) else tree


def _place(document: Any, operation: Operation, name: str) -> tuple[Any, str]:
    """Return what a pointer leads into, and its last part; what stands before the first slash does not count."""
    value = operation.get(name)
    if not (isinstance(value, Scalar) and value.startswith('"')):
        raise _MissingError(f"{name} must be text")
    _, *parts = (part.replace("~1", "/").replace("~0", "~") for part in json.loads(value).split("/"))
    if not parts:
        raise _MissingError(f"{name} must start with /")
    for part in parts[:-1]:
        document = _get(document, part)
        if not isinstance(document, (dict, list)):
            raise _MissingError("the path leads through a value that is no map" if document is not None else "")
    return document, parts[-1]


def _get(parent: Any, key: str) -> Any:
    return parent[_index(key, len(parent))] if isinstance(parent, list) else parent.get(key)


def _index(key: str, length: int) -> int:
    if not re.fullmatch("[-+]?[0-9]+", key, re.ASCII):
        raise _MissingError(f"{key} is no index of a list")
    index = int(key)
    if not -length <= index < length:
        raise _MissingError(f"the list has no entry {key}")
    return index + length if index < 0 else index


def _add(parent: Any, key: str, value: Any) -> None:
    if isinstance(parent, dict):
        parent[key] = value
    else:
        parent.insert(len(parent) if key == "-" else _index(key, len(parent) + 1), value)


def _remove(parent: Any, key: str) -> None:
    if isinstance(parent, list):
        del parent[_index(key, len(parent))]
    elif key in parent:
        del parent[key]
    else:
        raise _MissingError


def _test(found: Any, wanted: Any) -> None:
    if not _equal(found, wanted):
        raise _MissingError("the value differs from what it tests for")


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        # Talos's library ends at an empty entry of a list.
        alike = len(left) == len(right) and None not in left and None not in right
        return alike and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(item, right[key]) for key, item in left.items())
    return type(left) is type(right) and bool(left == right)
