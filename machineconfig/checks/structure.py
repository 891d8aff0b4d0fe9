"""Keys, kinds and types: what the release of Talos that a node runs knows, and what the provider's knows."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from findings import Finding, Path, nearest
from machineconfig.checks.subject import Part, Subject
from machineconfig.checks.typed import struct_of, typed, without_deletions
from machineconfig.deletes import DELETE, MARK
from machineconfig.documents import parse
from machineconfig.placeholder import holds_placeholder
from machinery.contract import PROVIDER, release_of
from machinery.decode import Reading, decode
from machinery.problems import Problem
from machinery.structure import DOCUMENTS, ListOf, MapOf, Release, Scalar, Struct, Type

_ENDING = "Config"


def has_documents_that_talos_knows(subject: Subject) -> Iterator[Finding]:
    """A document's kind is one that the node's release of Talos knows, with the apiVersion v1alpha1."""
    release = release_of(str(subject.topology.versions.talos))
    for part in subject.parts:
        kind, version = part.document.root.get("kind"), part.document.root.get("apiVersion")
        if kind is None or version is None:
            continue
        struct = DOCUMENTS.get(kind.text)
        if struct is None:
            near = _near_kind(kind.text)
            cure = f"write {near}" if near else "see Talos's reference of the kinds"
            yield subject.finding(part, kind, f"Talos knows no document of kind {part.shown(kind)}", cure)
        elif version.text != "v1alpha1":
            message = f"Talos knows {part.title} in no version {part.shown(version)}"
            yield subject.finding(part, version, message, "write apiVersion: v1alpha1")
        elif release < struct.since and kind.text != "HostnameConfig":  # its own check says more
            known = f"{struct.since[0]}.{struct.since[1]}"
            message = f"{kind.text} is known since Talos {known}; the node runs {subject.topology.versions.talos}"
            yield subject.finding(part, kind, message, "use the field of machine that says the same")


def has_keys_that_talos_knows(subject: Subject) -> Iterator[Finding]:
    """Every key is one that the node's release of Talos and the provider's know."""
    for part, problem, is_unknown in _unread(subject):
        if is_unknown:
            cure = _below(part, problem.path) or _near(struct_of(part.document), problem.path)
            yield _finding(subject, part, problem, cure or "leave it out")


def deletes_or_merges(subject: Subject) -> Iterator[Finding]:
    """`$patch` says delete: Talos knows no other word, and takes anything else for a value."""
    for part in subject.parts:
        for entry in part.document.root.walk() if MARK in part.patch.text else ():
            if entry.path[-1:] == (MARK,) and entry.text != DELETE:
                message = f"{MARK}: {part.shown(entry) or 'a map or a list'} is not a word that Talos knows"
                yield subject.finding(part, entry, message, "write $patch: delete to delete, or nothing to merge")


def has_values_of_the_right_type(subject: Subject) -> Iterator[Finding]:
    """Every value is of a type that Talos can read for its key."""
    for part, problem, is_unknown in _unread(subject):
        if not is_unknown and not _on_a_secret(part, problem):
            found = _finding(subject, part, problem, "correct the value")
            yield replace(found, message=f"{found.message}, not {found.value}") if found.value else found


def _finding(subject: Subject, part: Part, problem: Problem, cure: str) -> Finding:
    entry = next((each for each in part.document.root.walk() if each.path == problem.path), None)
    found = subject.finding(part, entry, problem.message, cure)
    return replace(found, place=replace(found.place, line=part.patch.line(problem.line), path=problem.path))


def _on_a_secret(part: Part, problem: Problem) -> bool:
    """Whether a value stands for a secret, which is a text of which nobody knows yet whether it has the right form."""
    for entry, kind, _ in typed(part.document):
        if entry.path == problem.path:
            return holds_placeholder(entry.text) and isinstance(kind, Scalar)
    return False


def _unread(subject: Subject) -> Iterator[tuple[Part, Problem, bool]]:
    """What either release cannot read, and whether it is a key that it does not know.

    The node's own words count where both say something of a place.
    """
    node = release_of(str(subject.topology.versions.talos))
    for part in subject.parts:
        found = _read(part.patch.text, part.index, node)
        places = {problem.path for problem, _ in found}
        provider = [each for each in _read(part.patch.text, part.index, PROVIDER) if each[0].path not in places]
        yield from ((part, *each) for each in (*found, *provider))


@lru_cache(maxsize=8192)
def _read(text: str, index: int, release: Release) -> tuple[tuple[Problem, bool], ...]:
    """What a release cannot read in one document of a text; keys set twice are another check's."""
    document = parse(text)[index]
    struct, node = struct_of(document), without_deletions(document.root.node)
    if struct is None or node is None:
        return ()
    reading = Reading(release)
    decode(struct, node, (), reading)
    # An apiVersion without a kind is another check's, and so is a wrong $patch.
    unknown = (each for each in reading.unknown if each.path != ("apiVersion",) and each.path[-1] != MARK)
    return (*((problem, False) for problem in reading.wrong), *((problem, True) for problem in unknown))


def _near_kind(name: str) -> str:
    """The kind that a name is nearest to. Most kinds end alike, and what they end with makes no neighbours."""
    kinds = {kind.removesuffix(_ENDING).lower(): kind for kind in DOCUMENTS}
    return kinds.get(nearest(name.removesuffix(_ENDING).lower(), kinds, cutoff=0.7), "")


def _below(part: Part, path: Path) -> str:
    """Where a key belongs that is at the top of a fragment, and is one of machine or cluster."""
    top = struct_of(part.document) if part.document.is_main and len(path) == 1 else None
    places = [root.name for root in (top.fields if top else ()) if path[0] in _keys(root.type)]
    return f"put it below {' or '.join(f'{place}:' for place in places)}" if places else ""


def _near(kind: Type | None, path: Path) -> str:
    """What to write instead of a misspelt key: the nearest of those that could be in its place."""
    *above, name = path
    for part in above:
        if isinstance(kind, Struct):
            kind = next((field.type for field in kind.fields if field.name == part), None)
        elif isinstance(kind, ListOf | MapOf):
            kind = kind.item
    near = nearest(str(name), [key for key in _keys(kind) if key != name])
    return f"write {near}" if near else ""


def _keys(kind: Type | None) -> list[str]:
    return [field.name for field in kind.fields] if isinstance(kind, Struct) else []
