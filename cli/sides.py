"""The sides of a comparison: configurations as they are, and as they may be shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cli.compared import Cause, NodeDifference, alike, documents
from cli.errors import CliError
from cli.final import Prepared
from cli.provider import Generate
from machineconfig.checks.living import read_once
from machineconfig.differences import Change, compare
from machineconfig.marks import Mask
from machineconfig.paths import Documents
from machineconfig.veil import Place, Veiled, dependent, general, kind_of, suspicious, unknown, veil
from machinery import ConfigError
from topology import Node


@dataclass(frozen=True)
class Side:
    """One configuration."""

    documents: Documents = field(repr=False)
    shown: Documents = field(repr=False)
    """The same, with a veil over everything that is not known to come from no secret."""
    dependent: frozenset[Place] = frozenset()
    """The places of what depends on a secret of the stack."""


def ours(prepared: Prepared, node: Node, text: str, generate: Generate) -> Side:
    """What a node would get, which is `text`."""
    twins = [twin if twin is None else documents(twin) for twin in prepared.twin_finals(node, generate)]
    return _rendered(documents(text), twins, prepared.mask)


def _rendered(made: Documents, twins: Sequence[Documents | None], mask: Mask) -> Side:
    """A configuration from files, by what it is with other secrets."""
    return from_places(made, dependent(made, twins), mask)


def from_places(made: Documents, places: frozenset[Place], mask: Mask) -> Side:
    """A configuration from files, by the places of what depends on a secret."""
    return Side(made, veil(made, places | suspicious(made, mask)), places)


def against(prepared: Prepared, node: Node, text: str, generate: Generate) -> tuple[Side, Side]:
    """What a machine runs, and what it would get; raises CliError."""
    twins = list(prepared.twin_finals(node, generate))
    texts = [text, prepared.final(node, generate), *(twin for twin in twins if twin is not None)]
    try:
        live, made, *others = alike(texts, str(prepared.plan.topology.versions.talos))
    except ConfigError:
        raise CliError(f"{node.name}: the configuration it runs with cannot be read") from None
    new = _rendered(made, [*others, *(None for twin in twins if twin is None)], prepared.mask)
    return Side(live, veil(live, unknown(live, new.shown, prepared.mask))), new


def difference(stack: str, node: str, old: Side, new: Side, cause: Cause) -> NodeDifference:
    """Compare two configurations of a node."""
    fields = read_once(old.documents, new.documents)
    return NodeDifference(stack, node, compare(old.shown, new.shown), fields=fields, cause=cause)


def compares_no_secret(change: Change, side: Side) -> bool:
    """Whether a change says something where `side`, which is made with placeholders, depends on no secret."""
    if isinstance(change.new, Veiled):
        title = dict(zip(side.shown, side.documents, strict=True))[change.document]
        return (title, change.path) not in side.dependent
    among = {(title if path else kind_of(title), general(path)) for title, path in side.dependent}
    place = (change.document if change.path else kind_of(change.document), general(change.path))
    return not (isinstance(change.old, Veiled) and place in among)
