"""JSON patches (RFC 6902), which Talos takes for configurations of one document only."""

import json
from typing import Any

from machinery.errors import ConfigError
from machinery.values import copied

Operation = dict[str, Any]


def read_operations(text: str, fallback: Any) -> list[Operation] | None:
    """Return the operations of a text, or None where it is no JSON patch; `fallback` is the text's YAML value."""
    try:
        value = json.loads(text)
    except ValueError:
        value = fallback
    if value is None and not text.strip().startswith("{"):
        return []
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    return None


def apply(document: Any, operations: list[Operation]) -> Any:
    """Return a document with the operations applied; raise ConfigError for one that does not fit."""
    result = copied(document)
    for number, operation in enumerate(operations):
        try:
            result = _apply(result, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            shown = f"{operation.get('op', '(no op)')} {operation.get('path', '(no path)')}"
            detail = f": {error.args[0]}" if isinstance(error, ValueError) and error.args else ""
            raise ConfigError(
                f"JSON patch operation {number} ({shown}) does not fit the configuration{detail}"
            ) from None
    return result


def _apply(document: Any, operation: Operation) -> Any:
    name, path = operation["op"], _parts(operation["path"])
    if name in ("move", "copy"):
        source = _parts(operation["from"])
        value = copied(_get(document, source))
        if name == "move":
            document = _remove(document, source)
        return _add(document, path, value)
    if name == "add":
        return _add(document, path, operation.get("value"))
    if name == "remove":
        return _remove(document, path)
    if name == "replace":
        _get(document, path)
        return _set(document, path, operation.get("value"))
    if name == "test":
        if _get(document, path) != operation.get("value"):
            raise ValueError("the value differs from what it tests for")
        return document
    raise ValueError("the operation is not known")


def _parts(path: str) -> list[str]:
    if not path:
        return []
    if not path.startswith("/"):
        raise ValueError("a path must start with /")
    return [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]


def _get(document: Any, path: list[str]) -> Any:
    for part in path:
        document = document[_index(document, part)] if isinstance(document, list) else _key(document, part)
    return document


def _key(document: Any, part: str) -> Any:
    if not isinstance(document, dict):
        raise ValueError("the path leads through a value that is no map")
    return document[part]


def _index(items: list[Any], part: str) -> int:
    index = int(part)
    if not -len(items) <= index < len(items):
        raise IndexError(part)
    return index


def _set(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _get(document, path[:-1])
    parent[_index(parent, path[-1]) if isinstance(parent, list) else path[-1]] = value
    return document


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _get(document, path[:-1])
    if isinstance(parent, list):
        parent.insert(len(parent) if path[-1] == "-" else int(path[-1]), value)
    elif isinstance(parent, dict):
        parent[path[-1]] = value
    else:
        raise ValueError("the path leads through a value that is no map")
    return document


def _remove(document: Any, path: list[str]) -> Any:
    parent = _get(document, path[:-1])
    del parent[_index(parent, path[-1]) if isinstance(parent, list) else path[-1]]
    return document
