"""Which Nodes a list asks for. What is not simulated is refused: to pass over it would be a wrong answer."""

import re
from collections.abc import Mapping
from typing import Any

_LABEL = re.compile(r"([\w./-]+)(?:==?([\w.-]*))?")


def not_simulated(query: Mapping[str, str]) -> str:
    """Say what of a query cannot be answered; empty where all of it can."""
    for name in ("watch", "fieldSelector"):
        if name in query:
            return f"{name} is not simulated"
    strange = [term for term in _terms(query.get("labelSelector", "")) if not _LABEL.fullmatch(term)]
    return f"the label selector {strange[0]} is not simulated; KEY and KEY=VALUE are" if strange else ""


def matches(node: Mapping[str, Any], selector: str) -> bool:
    """Tell whether the labels of a Node match every term of a selector that can be answered."""
    labels = node["metadata"]["labels"]
    for term in _terms(selector):
        key, value = _LABEL.fullmatch(term).groups()  # type: ignore[union-attr]
        if key not in labels or value not in (None, labels[key]):
            return False
    return True


def _terms(selector: str) -> list[str]:
    return [term.strip() for term in selector.split(",") if term.strip()]
