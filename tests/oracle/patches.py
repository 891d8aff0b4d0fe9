"""Random patches, each known by its number: of the types in the structure tables, with the oddities of YAML and CEL."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from machinery.structure import DOCUMENTS, V1ALPHA1, Anything, Field, ListOf, Scalar, Struct, Type
from tests.oracle.library import PROVIDER

RELEASE = tuple(map(int, PROVIDER.split(".")))
WORDS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "words.yaml").read_text(encoding="utf-8"))
LINES = {name: text.splitlines() for name, text in WORDS.items() if name != "kinds"}
KINDS = {name: text.split("|") for name, text in WORDS["kinds"].items()}
NAMES = ("a", "eth0", "EPHEMERAL", "STATE", "bond0", "u-1", "docker.io")
KEYS = ("a", "b", "net.core.x", "node.kubernetes.io/x", "eth0", "docker.io")
_DEEPEST = 6


@dataclass
class Writer:
    """Writes values in flow style; so many of a hundred are `odd`: what their type may not expect."""

    die: random.Random
    odd: int

    def chance(self, percent: float) -> bool:
        """Tell whether something of a likelihood happens."""
        return self.die.random() * 100 < percent

    def one(self, name: str) -> str:
        """Return one of the lines of a name."""
        lines: list[str] = LINES[name]
        return self.die.choice(lines)

    def scalar(self, name: str) -> str:
        """Write a scalar of a kind."""
        if self.chance(self.odd):
            return self.one("odd")
        if name == "cel":
            return json.dumps(self.one("cel"), ensure_ascii=False)
        words: list[str] = KINDS.get(name, LINES["texts"])
        return self.die.choice(words if self.odd else words[: max(4, len(words) // 2)])

    def value(self, kind: Type, depth: int) -> str:
        """Write a value of a type."""
        if self.odd and self.chance(1):
            return self.one("odd")
        if isinstance(kind, Scalar):
            return self.scalar(kind.name)
        if isinstance(kind, Anything):
            return self.anything(depth)
        if isinstance(kind, Struct):
            return self.struct(kind, depth)
        count = self.die.choice((0, 1, 1, 2)) if depth < _DEEPEST else 0
        if isinstance(kind, ListOf):
            return flow("[]", [self.value(kind.item, depth + 1) for _ in range(count)])
        return flow("{}", [f"{self.key()}: {self.value(kind.item, depth + 1)}" for _ in range(count)])

    def key(self) -> str:
        """Write a key of a map."""
        return self.one("keys") if self.chance(self.odd) else self.die.choice(KEYS)

    def anything(self, depth: int) -> str:
        """Write a map of anything."""
        parts = [
            f"{self.key()}: {self.one('odd' if self.chance(20) else 'texts')}"
            for _ in range(self.die.choice((0, 1, 2)))
        ]
        if depth < _DEEPEST and self.chance(40):
            inner = self.anything(depth + 1)
            parts.append(f"{self.key()}: {self.die.choice((inner, flow('[]', [inner]), '[1, a]'))}")
        return flow("{}", parts)

    def struct(self, kind: Struct, depth: int) -> str:
        """Write some fields of a structure."""
        parts = self.fields(kind, 4 if depth < _DEEPEST else 0, depth)
        if self.chance(3):
            parts = ["$patch: delete", *(parts[:1] if self.chance(50) else [])]
        if self.odd and self.chance(2):
            parts.append(f"{self.die.choice(('unknown', '1', '~', parts[0].partition(':')[0] if parts else 'x'))}: x")
        return flow("{}", parts)

    def fields(self, kind: Struct, most: int, depth: int) -> list[str]:
        """Write up to so many fields, each as `key: value`."""
        fields = [each for each in fields_of(kind) if each.name not in ("apiVersion", "kind")]
        chosen = self.die.sample(fields, self.die.randint(0, min(len(fields), most)))
        return [f"{each.name}: {self.value(each.type, depth + 1)}" for each in chosen]

    def document(self) -> str:
        """Write one document: a part of machine and cluster, or one with a kind."""
        if self.chance(50):
            part = self.die.choice(("machine", "machine", "cluster"))
            kind = next(each.type for each in fields_of(V1ALPHA1) if each.name == part)
            return f"{part}: {self.value(kind, 1)}\n"
        name = self.die.choice([name for name, each in DOCUMENTS.items() if each.since <= RELEASE])
        version = self.die.choice(("v1", "v1alpha2", "''", "~")) if self.chance(self.odd / 5) else "v1alpha1"
        lines = [f"apiVersion: {version}", f"kind: {name}"]
        if any(each.name == "name" for each in fields_of(DOCUMENTS[name])):
            lines.append(f"name: {self.one('odd') if self.chance(self.odd) else self.die.choice(NAMES)}")
        if self.chance(5):
            lines.append("$patch: delete")
        lines += [line for line in self.fields(DOCUMENTS[name], 5, 0) if not line.startswith("name: ")]
        return "".join(f"{line}\n" for line in lines)

    def patch(self) -> str:
        """Write one patch: documents, or now and then a JSON patch."""
        if self.chance(10):
            return self.json_patch()
        text = "---\n".join(self.document() for _ in range(self.die.choice((1, 1, 1, 2))))
        if self.chance(self.odd / 3):
            text = aliased(text, self.die)
        if self.chance(self.odd / 3):
            text = json.loads(f'"{self.one("heads")}"') + text
        return text

    def json_patch(self) -> str:
        """Write operations, in JSON or in YAML."""
        operations = [self.operation() for _ in range(self.die.choice((1, 1, 2, 3)))]
        if self.chance(40):
            return "".join(f"- {operation}\n" for operation in operations)
        return flow("[]", operations)

    def operation(self) -> str:
        """Write one operation; a few are none."""
        name = self.die.choice(("add", "replace", "remove", "test", "copy", "move", "test", "add"))
        parts = [f'"op": "{name}"', f'"path": "{self.one("json_paths")}"', f'"from": "{self.one("json_paths")}"']
        if self.chance(95):
            parts.append(f'"value": {self.one("json_values")}')
        if self.chance(self.odd):
            parts[self.die.randrange(len(parts))] = self.die.choice(
                (
                    '"path": 5',
                    '"path": null',
                    '"path": ["a"]',
                    '"x": 1',
                    '"op": 1',
                    '"op": "Add"',
                    '"from": null',
                    '"path": ""',
                )
            )
        return flow("{}", parts)


def fields_of(kind: Struct) -> list[Field]:
    """Return the fields that the provider's library knows."""
    return list(kind.at((RELEASE[0], RELEASE[1], RELEASE[2])).values())


def flow(ends: str, parts: Sequence[str]) -> str:
    """Write a list or a map in flow style."""
    return f"{ends[0]}{', '.join(parts)}{ends[1]}"


def aliased(text: str, die: random.Random) -> str:
    """Return a text with an alias in the place of one of its values."""
    words = text.split(": ")
    if len(words) < 3:
        return text
    first, second = sorted(die.sample(range(1, len(words)), 2))
    words[first] = f"&a {words[first]}"
    end = next((at for at, sign in enumerate(words[second]) if sign in ",}]\n"), len(words[second]))
    words[second] = f"*a {words[second][end:]}"
    return ": ".join(words)


def patches(seed: int, number: int) -> tuple[str, ...]:
    """Return one to three patches, the same for the same numbers."""
    die = random.Random(f"{seed}/{number}")
    writer = Writer(die, die.choice((0, 0, 2, 6, 15)))
    found = [writer.patch() for _ in range(die.choice((1, 1, 1, 2, 3)))]
    if len(found) > 1 and writer.chance(30):
        found[-1] = found[0]
    return tuple(found)


def places_of_scalars(most: int = 8) -> dict[str, list[str]]:
    """Return, for each kind of scalar, so many texts in which a `@` stands in the place of one."""
    found: dict[str, list[str]] = {}
    heads = {name: f"apiVersion: v1alpha1\nkind: {name}\n" for name, each in DOCUMENTS.items() if each.since <= RELEASE}
    for head, struct in [("", V1ALPHA1), *((text, DOCUMENTS[name]) for name, text in heads.items())]:
        named = "name: a\n" if any(each.name == "name" for each in fields_of(struct)) else ""
        for field in fields_of(struct):
            for kind, text in _places(field.type):
                found.setdefault(kind, []).append(
                    f"{head}{named if field.name != 'name' else ''}{field.name}: {text}\n"
                )
    return {kind: texts[:: max(1, len(texts) // most)] for kind, texts in found.items()}


def _places(kind: Type) -> Iterator[tuple[str, str]]:
    if isinstance(kind, Scalar):
        yield kind.name, "@"
    elif isinstance(kind, Struct):
        for field in fields_of(kind):
            yield from ((name, f"{{{field.name}: {text}}}") for name, text in _places(field.type))
    elif not isinstance(kind, Anything):
        ends = "[{}]" if isinstance(kind, ListOf) else "{{a: {}}}"
        yield from ((name, ends.format(text)) for name, text in _places(kind.item))
