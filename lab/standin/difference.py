"""The difference between a state and a plan, in the words of the engine."""

from collections.abc import Collection, Mapping

from pulumi.runtime.proto import provider_pb2 as proto

from lab.standin.values import Properties, Value

_OWN = frozenset({"id", "__meta"})


def changed(state: Mapping[str, Value], planned: Mapping[str, Value]) -> list[str]:
    """Return the names of the properties that differ, in order; null and left out are the same."""
    names = sorted((state.keys() | planned.keys()) - _OWN)
    return [name for name in names if state.get(name) != planned.get(name)]


def difference(state: Properties, planned: Properties, replaced: Collection[str]) -> proto.DiffResponse:
    """Answer a Diff call. What changed within a property is left to the engine, as the Talos provider leaves it."""
    names = changed(state, planned)
    kind = proto.DiffResponse.DIFF_SOME if names else proto.DiffResponse.DIFF_NONE
    return proto.DiffResponse(changes=kind, diffs=names, replaces=list(replaced))
