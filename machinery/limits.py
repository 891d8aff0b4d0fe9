"""Limits on YAML documents: how deep they go, and how far their aliases may grow them."""

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
    waiting, deepest = [(document, 0)], dict[int, int]()
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, ScalarNode) or deepest.get(id(node.value), -1) >= depth:
            continue
        if depth > MOST_DEPTH:
            raise ConfigError(Problem("it is nested too deeply", line=line(node)))
        deepest[id(node.value)] = depth
        for part in node.value:
            waiting.extend((child, depth + 1) for child in (part if isinstance(part, tuple) else (part,)))


def check_size(node: Node, sizes: dict[int, int]) -> int:
    """Return how many nodes a node is with its aliases followed; refuse far too many."""
    if isinstance(node, ScalarNode):
        return 1
    if id(node.value) in sizes:
        return sizes[id(node.value)]
    parts = node.value if isinstance(node, SequenceNode) else [part for pair in node.value for part in pair]
    size = 1 + sum(check_size(part, sizes) for part in parts)
    if size > MOST_NODES:
        raise ConfigError(Problem("its aliases repeat too much", line=line(node)))
    sizes[id(node.value)] = size
    return size
