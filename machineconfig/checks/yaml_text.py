"""Text that Talos could not read as patches: not YAML, keys set twice, not a mapping, a JSON patch, half a document."""

import re
from collections.abc import Iterator
from functools import lru_cache

from findings import Finding, Place, written
from machineconfig.checks.subject import Part, Subject
from machineconfig.context import HOSTNAME_DOCUMENT
from machineconfig.documents import parse
from machineconfig.model import Patch
from machinery.errors import ConfigError

_FRAGMENT = "write it as a fragment of the machine configuration, such as machine: {install: {disk: /dev/vda}}"
_TEMPLATE = re.compile(r"\{\{[-+]?\s*(?:(?:secret|include)\s*\(|(?:node|cluster|facts)\.)|\{%[-+]?\s*(?:if|for|set)\b")
"""What is written for a template: a secret, a file, a name that templates know, or a tag."""


def is_a_template_by_its_name(subject: Subject) -> Iterator[Finding]:
    """A template's file name ends in .j2: any other file is used as it is."""
    for patch in subject.patches:
        if patch.source.endswith(".j2"):
            continue
        for line, text in enumerate(patch.text.split("\n"), 1):
            if _TEMPLATE.search(text) and not text.lstrip().startswith("#"):
                name = patch.source.rpartition("/")[2]
                message = "is written as a template, and the file is used as it is"
                yield Finding(_at(subject, patch, line), message, f"name it {name}.j2")
                break


def is_yaml(subject: Subject) -> Iterator[Finding]:
    """Every patch can be read."""
    for patch in subject.patches:
        try:
            parse(patch.text)
        except ConfigError as error:
            (fault,) = error.problems
            message = f"is not YAML: {fault.message}"
            yield Finding(_at(subject, patch, fault.line), message, "correct it")


def sets_each_key_once(subject: Subject) -> Iterator[Finding]:
    """No map has the same key twice: Talos refuses it."""
    for part in subject.parts:
        for entry, first in part.document.duplicate_keys:
            line = part.patch.line(first)
            message = f"{written(entry.path)} is set a second time, after line {line}"
            yield subject.finding(part, entry, message, "keep one of them")


def is_a_mapping(subject: Subject) -> Iterator[Finding]:
    """Every file has a document, and every document is a mapping or a JSON patch."""
    for patch in subject.patches:
        if is_empty(patch.text):
            yield Finding(_at(subject, patch, None), "says null and nothing else", "take the file away")
    for part in subject.parts:
        if not part.document.is_mapping and not _is_json_patch(part):
            yield subject.finding(part, None, "is not a mapping", _FRAGMENT)


def is_no_json_patch(subject: Subject) -> Iterator[Finding]:
    """JSON patches are used only where the contract has a single document."""
    contract = subject.topology.versions.contract
    for part in subject.parts:
        if _is_json_patch(part) and contract >= HOSTNAME_DOCUMENT:
            message = (
                f"is a JSON patch; from contract {HOSTNAME_DOCUMENT} on (here {contract}) a configuration has"
                " several documents, and Talos takes no JSON patches for them"
            )
            yield subject.finding(part, None, message, _FRAGMENT)


def has_kind_and_version(subject: Subject) -> Iterator[Finding]:
    """A document with a kind has an apiVersion, and the other way round."""
    for part in subject.parts:
        kind, version = part.document.root.get("kind"), part.document.root.get("apiVersion")
        if kind is not None and version is None:
            message = f"{part.title} has no apiVersion"
            yield subject.finding(part, kind, message, "add apiVersion: v1alpha1")
        elif version is not None and kind is None:
            yield subject.finding(part, version, "has an apiVersion and no kind", "add the kind of the document")


@lru_cache(maxsize=8192)
def is_empty(text: str) -> bool:
    """Whether a text can be read and holds no document."""
    try:
        return not parse(text)
    except ConfigError:
        return False


def _at(subject: Subject, patch: Patch, line: int | None) -> Place:
    return Place(patch.file, patch.line(line), nodes=(subject.node.name,))


def _is_json_patch(part: Part) -> bool:
    items = part.document.root.items
    return bool(items) and all(item.get("op") is not None and item.get("path") is not None for item in items)
