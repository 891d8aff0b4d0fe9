"""Machine secrets: they come from the secrets of the stack, and from nowhere else."""

from collections.abc import Iterator
from dataclasses import replace

from machineconfig.checks.subject import Part, Subject
from machineconfig.documents import Entry
from machineconfig.model import Finding
from machineconfig.sensitive import IN_BUNDLE
from machinery.problems import dotted


def leaves_machine_secrets_to_the_stack(subject: Subject) -> Iterator[Finding]:
    """No patch sets a machine secret: with one of its own, a machine is not one of the cluster."""
    for path, key in IN_BUNDLE.items():
        for part, entry in (*subject.fields(*path), *_operations(subject, path)):
            if entry.is_empty or (path[1] == "etcd" and not subject.node.is_controlplane):  # its own check says it
                continue
            message = f"{dotted(path)} is a machine secret, and those come from the secrets of the stack"
            remedy = f"leave it out; to bring your own, import a secrets.yaml that has it as {key} (secrets.importFrom)"
            yield replace(subject.finding(part, entry, message, remedy), value="")


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
