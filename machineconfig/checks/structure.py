"""Keys, kinds and types: what the release of Talos that a node runs knows, and what the provider's knows."""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from machineconfig.checks.subject import Part, Subject
from machineconfig.checks.typed import struct_of, without_deletions
from machineconfig.documents import parse
from machineconfig.model import Finding, mark
from machinery.contract import PROVIDER, release_of
from machinery.decode import Reading, decode
from machinery.structure import DOCUMENTS, ListOf, MapOf, Release, Struct, Type

_PROBLEM = re.compile(r"line (\d+): (.*)", re.DOTALL)
_UNKNOWN = re.compile(r"(\S+) is not a key that Talos knows")


@dataclass(frozen=True)
class _Problem:
    line: int
    message: str
    unknown: bool


def has_documents_that_talos_knows(subject: Subject) -> Iterator[Finding]:
    """A document's kind is one that the node's release of Talos knows, with the apiVersion v1alpha1."""
    release = release_of(str(subject.topology.versions.talos))
    for part in subject.parts:
        kind, version = part.document.root.get("kind"), part.document.root.get("apiVersion")
        if kind is None or version is None:
            continue
        struct = DOCUMENTS.get(kind.text)
        if struct is None:
            near = difflib.get_close_matches(kind.text, DOCUMENTS, n=1)
            remedy = f"write {near[0]}" if near and not part.patch.is_secret else "see Talos's reference of the kinds"
            yield subject.finding(part, kind, f"Talos knows no document of kind {part.shown(kind)}", remedy)
        elif version.text != "v1alpha1":
            message = f"Talos knows {part.title} in no version {part.shown(version)}"
            yield subject.finding(part, version, message, "write apiVersion: v1alpha1")
        elif release < struct.since and kind.text != "HostnameConfig":  # its own check says more
            known = f"{struct.since[0]}.{struct.since[1]}"
            message = f"{kind.text} is known since Talos {known}; the node runs {subject.topology.versions.talos}"
            yield subject.finding(part, kind, message, "use the field of machine that says the same")


def has_keys_that_talos_knows(subject: Subject) -> Iterator[Finding]:
    """Every key is one that the node's release of Talos and the provider's know."""
    for part, problem in _problems(subject):
        if not problem.unknown:
            continue
        if part.patch.is_secret:
            yield _finding(subject, part, problem.line, "has a key that Talos does not know", "leave it out")
            continue
        found = _UNKNOWN.fullmatch(problem.message)
        near = _near(struct_of(part.document), found[1]) if found else ""
        yield _finding(subject, part, problem.line, problem.message, f"write {near}" if near else "leave it out")


def has_values_of_the_right_type(subject: Subject) -> Iterator[Finding]:
    """Every value is one that Talos can read as what the key is for."""
    for part, problem in _problems(subject):
        if not problem.unknown and not _on_a_secret(part, problem.line):
            message = "has a value of the wrong type" if part.patch.is_secret else problem.message
            yield _finding(subject, part, problem.line, message, "correct the value")


def _finding(subject: Subject, part: Part, line: int, message: str, remedy: str) -> Finding:
    return Finding(subject.node.name, part.patch.source, part.patch.line(line), message, remedy)


def _on_a_secret(part: Part, line: int) -> bool:
    """Whether a value may be a mark, which stands for a secret that nobody knows yet, and need not be of its type."""
    rows = part.patch.text.split("\n")
    return part.patch.is_secret and mark("").rstrip(">") in rows[min(line, len(rows)) - 1]


def _problems(subject: Subject) -> Iterator[tuple[Part, _Problem]]:
    """What either release cannot read; the node's own words count where both say something of a line."""
    node = release_of(str(subject.topology.versions.talos))
    for part in subject.parts:
        found = _read(part.patch.text, part.index, node)
        lines = {problem.line for problem in found}
        provider = [each for each in _read(part.patch.text, part.index, PROVIDER) if each.line not in lines]
        yield from ((part, problem) for problem in (*found, *provider))


@lru_cache(maxsize=8192)
def _read(text: str, index: int, release: Release) -> tuple[_Problem, ...]:
    """What a release cannot read in one document of a text; keys set twice are another check's."""
    document = parse(text)[index]
    struct, node = struct_of(document), without_deletions(document.root.node)
    if struct is None or node is None:
        return ()
    reading = Reading(release)
    decode(struct, node, "", reading)
    # An apiVersion without a kind is another check's.
    reading.unknown = [text for text in reading.unknown if "apiVersion is not" not in text]
    problems = [(text, False) for text in reading.wrong] + [(text, True) for text in reading.unknown]
    found = [(_PROBLEM.fullmatch(text), unknown) for text, unknown in problems if "already stands at line" not in text]
    return tuple(_Problem(int(match[1]), match[2], unknown) for match, unknown in found if match)


def _near(kind: Type | None, path: str) -> str:
    """The key that a misspelt one is nearest to, of those that could stand in its place."""
    *above, name = re.sub(r"\[\d+\]", ".[]", path).split(".")
    for part in above:
        if isinstance(kind, Struct):
            kind = next((field.type for field in kind.fields if field.name == part), None)
        elif isinstance(kind, ListOf | MapOf):
            kind = kind.item
    known = [field.name for field in kind.fields] if isinstance(kind, Struct) else []
    return next(iter(difflib.get_close_matches(name, known, n=1)), "")
