"""YAML as Talos reads it: YAML 1.2 with a few 1.1 numbers, line numbers kept, keys once only.

A node is PyYAML's own (`ScalarNode`, `MappingNode`, `SequenceNode`), read by libyaml where it is there. A plain
scalar has the tag PLAIN: what it means is decided by the field it is for (`1.10` is text where text is wanted), so
nothing is lost on the way.
"""

import re
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from machinery.emit import Verbatim
from machinery.errors import ConfigError
from machinery.limits import check_depth, check_size, line
from machinery.problems import Path, Problem
from machinery.timestamps import timestamp

__all__ = [
    "PLAIN",
    "STRING",
    "MappingNode",
    "Node",
    "ScalarNode",
    "SequenceNode",
    "compose",
    "duplicate_keys",
    "is_merge",
    "line",
    "load",
    "plain",
    "value_of",
]

PLAIN = "plain"
STRING = "tag:yaml.org,2002:str"
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NUMBERS = {".nan": "nan", ".NaN": "nan", ".NAN": "nan"} | {
    sign + word: sign + "inf" for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")
}
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")

_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Composer(_Parser):  # type: ignore[misc]
    """Composes nodes without looking at what plain scalars mean."""

    def resolve(self, kind: type[Node], value: str | None, implicit: Any) -> str:
        """Give plain scalars the tag PLAIN and quoted ones the tag of a string."""
        if kind is ScalarNode:
            return PLAIN if implicit[0] else STRING
        return "tag:yaml.org,2002:seq" if kind is SequenceNode else "tag:yaml.org,2002:map"

    def descend_resolver(self, current_node: Node | None, current_index: Any) -> None:
        """Paths do not matter here."""

    def ascend_resolver(self) -> None:
        """Paths do not matter here."""


def compose(text: str) -> list[Node]:
    """Return the documents of a text as nodes; raise ConfigError for text that is not YAML."""
    try:
        loader = _Composer(text)
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise ConfigError(_syntax(error)) from None
    documents: list[Node] = []
    try:
        while loader.check_node():
            documents.append(loader.get_node())
    except yaml.YAMLError as error:
        raise ConfigError(_syntax(error)) from None
    finally:
        loader.dispose()
    sizes: dict[int, int] = {}
    for document in documents:
        check_depth(document)
        if "&" in text:
            check_size(document, sizes)
    return documents


def _syntax(error: yaml.YAMLError | UnicodeEncodeError) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    where = f" (line {mark.line + 1})" if mark is not None else ""
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
    return f"this is not YAML{where}: {problem}"


def plain(node: ScalarNode) -> Any:
    """Return what a scalar means without any field's wish: None, bool, int, float or str.

    Numbers follow Talos's reader: `0o644`, `0x1f`, `0b11`, `0644` (octal) and `1_000` are integers. A date is one,
    with the time of day that Talos adds. `off`, `yes` and their kind are strings.
    """
    text: str = node.value
    if node.tag not in (PLAIN, STRING):
        return _tagged(node)
    if node.tag == STRING:
        return text
    if text in _NULL:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if text[0] in "+-.0123456789":
        return _number(node, text)
    return text


def _tagged(node: ScalarNode) -> Any:
    kind = node.tag.rpartition(":")[2]
    if kind == "timestamp" and (stamp := timestamp(node.value)):
        return Verbatim(stamp)
    if kind == "binary" or not node.tag.startswith("tag:yaml.org,2002:"):
        raise _refused(node, f"the tag {node.tag} is not supported")
    bare = ScalarNode(PLAIN, node.value, node.start_mark, node.end_mark)
    meaning: Any = plain(bare)
    types: dict[str, tuple[type, ...]] = {"null": (type(None),), "bool": (bool,), "int": (int,), "float": (int, float)}
    wanted = types.get(kind)
    if wanted is None or not isinstance(meaning, wanted):
        raise _refused(node, f"the value does not fit its tag !!{kind}")
    return float(node.value) if kind == "float" else meaning


def _number(node: ScalarNode, text: str) -> Any:
    if text in _NUMBERS:
        return float(_NUMBERS[text])
    if stamp := timestamp(text):
        return Verbatim(stamp)
    digits = text.replace("_", "")
    if _INTEGER.fullmatch(digits):
        sign = -1 if digits[0] == "-" else 1
        body = digits.lstrip("+-").lower()
        base = {"0x": 16, "0b": 2, "0o": 8}.get(body[:2], 8 if len(body) > 1 and body[0] == "0" else 10)
        return sign * int(body[2:] if body[1:2] in ("x", "b", "o") else body, base)
    return float(digits) if _FLOAT.fullmatch(digits) else text


def _refused(node: Node, message: str) -> ConfigError:
    return ConfigError(Problem.at(line(node), message))


def duplicate_keys(node: MappingNode, path: Path = ()) -> list[Problem]:
    """Return a problem for every key that stands twice in a mapping, which `path` leads to."""
    seen: dict[str, int] = {}
    problems = []
    for key, _ in node.value:
        name = key.value if isinstance(key, ScalarNode) else repr(key.tag)
        if name in seen:
            message = f'the key "{name}" already stands at line {seen[name]}'
            problems.append(Problem.at(line(key), message, (*path, name)))
        else:
            seen[name] = line(key)
    return problems


def is_merge(key: Node) -> bool:
    """Tell whether a key is YAML's `<<`, which brings in what another map says."""
    return isinstance(key, ScalarNode) and key.value == "<<" and key.tag == PLAIN


def value_of(node: Node) -> Any:
    """Return the plain Python value of a node; mappings need string keys, each once."""
    if isinstance(node, ScalarNode):
        return plain(node)
    if isinstance(node, SequenceNode):
        return [value_of(item) for item in node.value]
    if not isinstance(node, MappingNode):
        raise _refused(node, "a node of an unknown kind")
    if problems := duplicate_keys(node):
        raise ConfigError(problems)
    result: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise _refused(key, "a key must be text")
        if is_merge(key):
            _merge_into(result, value)
        elif isinstance(plain(key), str):  # a date too, as it is written
            result[key.value] = value_of(value)
        else:
            raise _refused(key, f"the key {key.value} must be text: put it in quotes")
    return result


def _merge_into(result: dict[str, Any], node: Node) -> None:
    for part in node.value if isinstance(node, SequenceNode) else [node]:
        merged = value_of(part)
        if not isinstance(merged, dict):
            raise _refused(part, "<< needs a map")
        for key, value in merged.items():
            result.setdefault(key, value)


def load(text: str) -> list[Any]:
    """Return the documents of a text as plain Python values."""
    return [value_of(node) for node in compose(text)]
