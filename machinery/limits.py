"""Limits on YAML documents: how deep they go, and how far their aliases may grow them."""

from itertools import chain
from typing import cast

from yaml.nodes import Node, ScalarNode, SequenceNode

from machinery.errors import ConfigError
from machinery.problems import Problem

MOST_DEPTH = 100
# What a text may grow to when its aliases are followed.
MOST_NODES = 100_000


def line(node: Node) -> int:
    """Return the line of a node, counted from 1."""
    return cast(int, node.start_mark.line) + 1


def check_depth(document: Node) -> None:
    """Refuse a document nested more deeply than anything real, and so also one that holds itself."""
    level = [document]
    for depth in range(MOST_DEPTH + 2):
        # What several aliases stand for is looked at once a level.
        inner = {id(node.value): node for node in level if not isinstance(node, ScalarNode)}
        if not inner:
            return
        if depth > MOST_DEPTH:
            raise ConfigError(Problem("it is nested too deeply", line=line(next(iter(inner.values())))))
        level = [child for node in inner.values() for child in _children(node)]


def _children(node: Node) -> list[Node]:
    return node.value if isinstance(node, SequenceNode) else list(chain.from_iterable(node.value))


def check_size(node: Node, sizes: dict[int, int]) -> int:
    """Return how many nodes a node is with its aliases followed; refuse far too many."""
    if isinstance(node, ScalarNode):
        return 1
    if id(node.value) in sizes:
        return sizes[id(node.value)]
    size = 1 + sum(check_size(part, sizes) for part in _children(node))
    if size > MOST_NODES:
        raise ConfigError(Problem("its aliases repeat too much", line=line(node)))
    sizes[id(node.value)] = size
    return size
