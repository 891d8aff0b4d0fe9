"""YAML as the engine reads a stack file, which is Go's yaml.v3, and what it takes for something else than is written.

`off`, `yes` and `52:54:00:12:34:56` stay text there. `010` is eight, `1.10` is `1.1`, and a date gets a time of day:
that is refused, with the line. What the engine makes of a value can be seen with `pulumi config --json`.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from findings import Finding, Path
from machinery.entries import Entry
from machinery.errors import ConfigError
from machinery.problems import Problem
from machinery.yaml import PLAIN, MappingNode, ScalarNode, SequenceNode, plain

_STANDARD = "tag:yaml.org,2002:"
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?")
_AMBIGUOUS = re.compile(
    r"[-+]?0[0-9_]+"  # octal in one YAML, decimal in another
    r"|[-+]?0b[01_]+"
    r"|[-+]?[0-9.]*_[0-9_.]*"  # text in one YAML, a number in another
    r"|[-+]?[0-9]*\.[0-9]*0",  # loses its last digit
)
_EXACT = 2**53
"""From here on a number that goes through JSON loses digits."""


@dataclass
class Reader:
    """Reads values, and notes where each is and which are not what is written."""

    misread: list[Finding] = field(default_factory=list)
    lines: dict[Path, int] = field(default_factory=dict)

    def value(self, entry: Entry, loc: Path = ()) -> Any:
        """What the engine hands to the program; raises ConfigError for what is no configuration."""
        self.lines.setdefault(loc, entry.line)
        node = entry.node
        if isinstance(node, SequenceNode):
            return [self.value(item, (*loc, index)) for index, item in enumerate(entry.items)]
        if isinstance(node, MappingNode):
            return self._mapping(entry, node, loc)
        return self._scalar(entry, node, loc) if isinstance(node, ScalarNode) else None

    def _mapping(self, entry: Entry, node: MappingNode, loc: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for name, (child, key) in keys_of(entry, node).items():
            if name == "<<" and key.tag == PLAIN:
                for part in self._maps(child, loc):
                    merged = {**part, **merged}
                continue
            if key.tag == PLAIN and not isinstance(self._meaning(key, child.line), str):
                self._note((*loc, name), name, "is a key that the engine reads as something else", "put it in quotes")
            result[name] = self.value(child, (*loc, name))
        return {**merged, **result}

    def _maps(self, entry: Entry, loc: Path) -> Iterator[dict[str, Any]]:
        value = self.value(entry, loc)
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, dict):
                raise ConfigError(Problem("<< needs a map", line=entry.line))
            yield part

    def _scalar(self, entry: Entry, node: ScalarNode, loc: Path) -> Any:
        text = entry.text
        meaning = self._meaning(node, entry.line)
        if node.tag != PLAIN:
            return meaning
        if _DATE.fullmatch(text):
            self._note(loc, text, "is a date for the engine, which adds a time of day", "put it in quotes")
        elif isinstance(meaning, bool) or not isinstance(meaning, int | float):
            return meaning
        elif not math.isfinite(meaning):
            self._note(loc, text, "is a number that the engine cannot keep", "put it in quotes if it is text")
        elif _AMBIGUOUS.fullmatch(text) or abs(meaning) > _EXACT:
            shown = str(_plain(float(meaning) if abs(meaning) > _EXACT else meaning))
            self._note(loc, text, f"is {shown} for the engine", _cure(loc, text, shown))
        else:
            return _plain(meaning)
        return text

    def _meaning(self, node: ScalarNode, line: int) -> Any:
        if node.tag == PLAIN and _DATE.fullmatch(node.value):
            return None  # neither text nor number
        if node.tag != PLAIN and (node.tag.endswith(":binary") or not node.tag.startswith(_STANDARD)):
            raise ConfigError(Problem(f"the tag {node.tag} is not supported", line=line))
        try:
            return plain(node)
        except ConfigError as error:
            raise ConfigError(replace(error.problems[0], line=line)) from None

    def _note(self, loc: Path, text: str, message: str, cure: str) -> None:
        self.misread.append(Finding.at(loc, text, message, cure))


def keys_of(entry: Entry, node: MappingNode) -> dict[str, tuple[Entry, ScalarNode]]:
    """The values of a map with their keys; raises ConfigError where a key is no text or is there twice."""
    found: dict[str, tuple[Entry, ScalarNode]] = {}
    for child, (key, _) in zip(entry.pairs, node.value, strict=True):
        name = str(child.path[-1])
        if not isinstance(key, ScalarNode):
            raise ConfigError(Problem("a key must be text", line=child.line))
        if name in found:
            raise ConfigError(Problem(f"the key {_shown(name)} is there twice", line=child.line))
        found[name] = child, key
    return found


def _shown(key: str) -> str:
    """A key for a message: in quotes where it is more than a word."""
    return key if re.fullmatch(r"[\w.:/@-]{1,64}", key) else json.dumps(key[:64])


def _cure(loc: Path, text: str, shown: str) -> str:
    if loc[:1] == ("versions",) and re.fullmatch(r"[0-9]+\.[0-9]+", text):
        whole = "" if loc[1:] == ("contract",) else ".0"
        return f"write it whole and with its v, such as v{text}{whole}"
    return f'write {shown}, or "{text}" in quotes if it is text'


def _plain(number: float) -> int | float:
    """As JSON has it: a number without a fraction is whole."""
    return int(number) if float(number).is_integer() else number
