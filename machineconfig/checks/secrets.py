"""Secrets: those of machines come from the stack, and no patch has another one in clear."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from findings import Finding, written
from machineconfig.checks.subject import Part, Subject
from machineconfig.documents import Entry, parse
from machineconfig.placeholder import holds_placeholder
from machineconfig.redaction import IN_BUNDLE, is_machines, is_named_secret

_OLDER_KEY = ("cluster", "aescbcEncryptionSecret")
"""API servers read with it what was encrypted before secretbox. No secrets.yaml has both: a patch may ask for it."""


def leaves_machine_secrets_to_the_stack(subject: Subject) -> Iterator[Finding]:
    """No patch sets a machine secret: with one of its own, a machine is not one of the cluster."""
    for path, key in IN_BUNDLE.items():
        for part, entry in (*subject.fields(*path), *_operations(subject, path)):
            if entry.is_empty or (path[1] == "etcd" and not subject.node.is_controlplane):  # its own check says it
                continue
            if path == _OLDER_KEY and part.patch.is_secret:
                continue
            message = f"{written(path)} is a machine secret, and those come from the secrets of the stack"
            cure = f"leave it out; to bring your own, import a secrets.yaml that has it as {key} (secrets.importFrom)"
            if path == _OLDER_KEY:
                cure = (
                    'leave it out; to go on reading what it has encrypted, ask for it with {{ secret("...") | flow }}'
                )
            yield replace(subject.finding(part, entry, message, cure), value="")


def asks_for_its_secrets(subject: Subject) -> Iterator[Finding]:
    """A key that holds a secret gets it from secret("name"), and no file has it in clear text."""
    for part in subject.parts:
        for entry in _in_clear(part.patch.text)[part.index]:
            message = f"{written(entry.path)} is in clear text in a file under version control"
            cure = 'use {{ secret("...") | flow }} in a file whose name ends in .j2'
            yield replace(subject.finding(part, entry, message, cure), value="")


@lru_cache(maxsize=8192)
def _in_clear(text: str) -> tuple[tuple[Entry, ...], ...]:
    """Of each document of a text what its key says is a secret; of machine secrets their own check speaks."""
    return tuple(tuple(filter(_is_in_clear, document.entries)) for document in parse(text))


def _is_in_clear(entry: Entry) -> bool:
    is_named = bool(entry.text) and is_named_secret(entry.path)
    return is_named and not holds_placeholder(entry.text) and not is_machines(entry.path)


def _operations(subject: Subject, path: tuple[str, ...]) -> Iterator[tuple[Part, Entry]]:
    """What the operations of JSON patches say of a place or change in it, from the operation's own line on."""
    for part in subject.parts:
        for item in part.document.root.items:
            for pointer in filter(None, (item.get("path"), item.get("from"))):
                parts = tuple(pointer.text.removeprefix("/").split("/"))
                value = item.get("value", *path[len(parts) :])
                if parts[: len(path)] == path:
                    yield part, item
                elif parts == path[: len(parts)] and value is not None and pointer.path[-1] == "path":
                    yield part, value
