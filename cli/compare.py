"""What is compared: configurations as they are, and as they may be shown."""

from dataclasses import dataclass, field

from cli.difference import Cause, NodeDifference, alike, documents
from cli.errors import CliError
from cli.final import Prepared
from cli.provider import Generate
from machineconfig.checks.living import read_once
from machineconfig.differences import Change, compare
from machineconfig.paths import Documents
from machineconfig.redaction import Place, Redacted, general, kind_of, of_files, of_machine, secret_places
from machinery import ConfigError
from topology import Node


@dataclass(frozen=True)
class Compared:
    """One configuration."""

    documents: Documents = field(repr=False)
    shown: Documents = field(repr=False)
    """The same as it may be shown."""
    secret: frozenset[Place] = frozenset()
    """The places of what comes from a secret of the stack."""


def ours(prepared: Prepared, node: Node, text: str, generate: Generate) -> Compared:
    """What a node would get, which is `text`."""
    made = documents(text)
    if prepared.is_open:
        return from_places(made, secret_places(made, made))
    without = prepared.without_secrets(node, generate)
    return from_places(made, secret_places(made, None if without is None else documents(without)))


def from_places(made: Documents, places: frozenset[Place]) -> Compared:
    """A configuration from files, by the places of what comes from a secret."""
    return Compared(made, of_files(made, places), places)


def against(prepared: Prepared, node: Node, text: str, generate: Generate) -> tuple[Compared, Compared]:
    """What a machine runs, and what it would get; raises CliError."""
    without = prepared.without_secrets(node, generate)
    texts = [text, prepared.final(node, generate), *([] if without is None else [without])]
    try:
        live, made, *others = alike(texts, str(prepared.plan.topology.versions.talos))
    except ConfigError:
        raise CliError(f"{node.name}: the configuration it runs with cannot be read") from None
    new = from_places(made, secret_places(made, others[0] if others else None))
    return Compared(live, of_machine(live, new.shown, prepared.known)), new


def difference(stack: str, node: str, old: Compared, new: Compared, cause: Cause) -> NodeDifference:
    """Compare two configurations of a node."""
    fields = read_once(old.documents, new.documents)
    return NodeDifference(stack, node, compare(old.shown, new.shown), fields=fields, cause=cause)


def compares_no_secret(change: Change, side: Compared) -> bool:
    """Whether a change says something where `side`, which is made with placeholders, holds no secret."""
    if isinstance(change.new, Redacted):
        title = dict(zip(side.shown, side.documents, strict=True))[change.document]
        return (title, change.path) not in side.secret
    among = {(title if path else kind_of(title), general(path)) for title, path in side.secret}
    place = (change.document if change.path else kind_of(change.document), general(change.path))
    return not (isinstance(change.old, Redacted) and place in among)
