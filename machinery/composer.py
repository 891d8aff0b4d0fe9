"""Composing YAML nodes as Talos's reader does, with libyaml, and without it where libyaml is stricter."""

import re
from copy import copy
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from machinery.errors import ConfigError, NotYamlError
from machinery.limits import MOST_DEPTH, check_depth, check_size, line
from machinery.problems import Problem
from machinery.resolve import PLAIN, STRING

_ALIAS = "alias"
_SLASH = re.compile(r"(?<!\\)(?:\\\\)*\\/")
_FLOW_WORD = r"(?:[^\s\0:,?\[\]{}]|[:?](?![\s\0]))+"
_FLOW_SCALAR = re.compile(rf"{_FLOW_WORD}(?:[ \t]+(?!#){_FLOW_WORD})*")
# A directive, an anchor or an alias: none begins right after a letter or a digit, and CEL's `&&` is none.
_SPECIAL = re.compile(r"(?<!\w)(?:&[^\s&]|%)")
# What only libyaml takes: a comma right after a tag, `\/` in quotes.
_LENIENT = re.compile(r"!\S*,|\\/")
# What libyaml says where it is stricter than Talos's reader.
_STRICTER = ("found unexpected ':'", "did not find expected node content")
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Lazy:
    """Leaves open what plain scalars mean."""

    def resolve(self, kind: type[Node], value: str | None, implicit: Any) -> str:
        """Give plain scalars the tag PLAIN and quoted ones the tag of a string."""
        if kind is ScalarNode:
            return PLAIN if implicit[0] else STRING
        return "tag:yaml.org,2002:seq" if kind is SequenceNode else "tag:yaml.org,2002:map"

    def descend_resolver(self, current_node: Node | None, current_index: Any) -> None:
        """Paths do not matter here."""

    def ascend_resolver(self) -> None:
        """Paths do not matter here."""


class _Composer(_Lazy, _Parser):  # type: ignore[misc]
    """Composes nodes with libyaml."""


class _SlowComposer(_Lazy, yaml.SafeLoader):
    """Composes nodes with PyYAML's own parser, taught that `[::1]` and the key in `{1:, 2: 3}` are plain scalars."""

    def check_value(self) -> bool:
        """Tell whether a `:` begins a value: not where an item of a flow list begins with it."""
        starts = self.buffer[: self.pointer].rstrip()[-1:] in ("[", ",")
        return not (self.flow_level and starts and self._is_sign(self.peek(1))) and bool(super().check_value())

    def check_plain(self) -> bool:
        """Tell whether a plain scalar begins here."""
        return bool(super().check_plain()) or (self.peek() == ":" and self._is_sign(self.peek(1)))

    def scan_plain(self) -> Any:
        """Read a plain scalar; in flow style only a `:` before a space ends it."""
        found = _FLOW_SCALAR.match(self.buffer, self.pointer) if self.flow_level else None
        if found is None:
            return super().scan_plain()
        start = self.get_mark()
        self.allow_simple_key = False
        self.forward(len(found[0]))
        return yaml.ScalarToken(found[0], True, start, self.get_mark())

    @staticmethod
    def _is_sign(sign: str) -> bool:
        return not (sign.isspace() or sign == "\0")


def compose(text: str) -> list[Node]:
    """Return the documents of a text as nodes; raise ConfigError for text that is not YAML."""
    special = _SPECIAL.search(text) is not None
    try:
        documents = _composed(_Composer, text, special)
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        if getattr(error, "problem", None) not in _STRICTER:
            raise _syntax(error) from None
        try:
            documents = _composed(_SlowComposer, text, special)
        except yaml.YAMLError:
            raise _syntax(error) from None
    lenient = _LENIENT.search(text) is not None
    sizes: dict[int, int] = {}
    for document in documents:
        check_depth(document)
        if lenient:
            _check_scalars(document, text)
        if special:
            check_size(document, sizes)
    return documents


def _check_scalars(node: Node, text: str) -> None:
    """Refuse what libyaml takes and Talos's reader does not: `\\/` in quotes, a comma right after a tag."""
    if isinstance(node, ScalarNode):
        start, end = node.start_mark.index, node.end_mark.index
        if node.style == '"' and _SLASH.search(text[start:end]):
            raise NotYamlError("found unknown escape character", line(node))
        if node.tag != PLAIN and not node.value and not node.style and text[end : end + 1] == ",":
            raise NotYamlError("a space is missing after the tag", line(node))
    elif not alias_of(node):
        for part in node.value:
            for child in part if isinstance(part, tuple) else (part,):
                _check_scalars(child, text)


def _composed(kind: Any, text: str, special: bool) -> list[Node]:
    loader = kind(text)
    try:
        return _from_events(loader) if special else _documents(loader)
    finally:
        loader.dispose()


def _documents(loader: Any) -> list[Node]:
    documents: list[Node] = []
    while loader.check_node():
        documents.append(loader.get_node())
    return documents


def _from_events(loader: Any) -> list[Node]:
    """Compose as Talos's reader does where PyYAML's differs: anchors reach over `---`, a version must be 1.1."""
    documents: list[Node] = []
    anchors: dict[str, Node] = {}
    while not isinstance(event := _next(loader), yaml.StreamEndEvent):
        if isinstance(event, yaml.DocumentStartEvent) and event.start_mark is not None:
            if event.version not in (None, (1, 1)):
                message = "the directive %YAML must say 1.1, or not be there"
                raise ConfigError(Problem(message, line=event.start_mark.line + 1))
            documents.append(_node(loader, _next(loader), anchors, 0))
    return documents


def _next(loader: Any) -> Any:
    return loader.get_event()


def _node(loader: Any, event: Any, anchors: dict[str, Node], depth: int) -> Node:
    if depth > MOST_DEPTH:
        raise ConfigError(Problem("it is nested too deeply", line=event.start_mark.line + 1))
    if isinstance(event, yaml.AliasEvent):
        return _alias(event, anchors)
    begin, end = event.start_mark, event.end_mark
    named = event.tag if event.tag not in (None, "!") else None
    node: Node
    if isinstance(event, yaml.ScalarEvent):
        tag = named or (STRING if event.style else PLAIN)
        node = ScalarNode(tag, event.value, begin, end, event.style)
    else:
        kind = SequenceNode if isinstance(event, yaml.SequenceStartEvent) else MappingNode
        node = kind(named or "", [], begin, end)
    if event.anchor:
        anchors[event.anchor] = node
    if not isinstance(node, ScalarNode):
        while not isinstance(event := _next(loader), (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            child: Any = _node(loader, event, anchors, depth + 1)
            if isinstance(node, MappingNode):
                child = (child, _node(loader, _next(loader), anchors, depth + 1))
            node.value.append(child)
    return node


def _alias(event: Any, anchors: dict[str, Node]) -> Node:
    if event.anchor not in anchors:
        raise NotYamlError("found undefined alias", event.start_mark.line + 1)
    node = copy(anchors[event.anchor])
    setattr(node, _ALIAS, event.anchor)
    return node


def alias_of(node: Node) -> str:
    """Return the name of the anchor that a node is an alias of, or nothing."""
    return str(getattr(node, _ALIAS, ""))


def _syntax(error: yaml.YAMLError | UnicodeEncodeError) -> NotYamlError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    words = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
    return NotYamlError(words, None if mark is None else mark.line + 1)
