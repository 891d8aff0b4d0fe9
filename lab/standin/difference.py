"""The difference between a state and a plan, in the words of the engine."""

from collections.abc import Collection, Iterator, Mapping

from pulumi.runtime.proto import provider_pb2 as proto

from lab.standin.values import Properties, Value

_OWN = frozenset({"id", "__meta"})


def changed(state: Mapping[str, Value], planned: Mapping[str, Value]) -> list[str]:
    """Return the names of the properties that differ, in order; null and left out are the same."""
    names = sorted((state.keys() | planned.keys()) - _OWN)
    return [name for name in names if state.get(name) != planned.get(name)]


def difference(
    state: Properties, planned: Properties, inputs: Collection[str], replaced: Collection[str]
) -> proto.DiffResponse:
    """Answer a Diff call; computed properties are named, but shown in detail only when no input differs."""
    names = changed(state, planned)
    if not names:
        return proto.DiffResponse(changes=proto.DiffResponse.DIFF_NONE, hasDetailedDiff=True)
    shown = [name for name in names if name in inputs] or names
    detailed = {}
    for name in shown:
        for path, kind in _paths(name, state.get(name), planned.get(name)):
            detailed[path] = proto.PropertyDiff(kind=_kind(kind, name in replaced))
    return proto.DiffResponse(
        changes=proto.DiffResponse.DIFF_SOME,
        diffs=names,
        replaces=list(replaced),
        detailedDiff=detailed,
        hasDetailedDiff=True,
    )


def _paths(path: str, old: Value, new: Value) -> Iterator[tuple[str, str]]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _paths(f"{path}.{key}", old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            left = old[index] if index < len(old) else None
            right = new[index] if index < len(new) else None
            yield from _paths(f"{path}[{index}]", left, right)
    elif old is None:
        yield path, "ADD"
    else:
        yield path, "DELETE" if new is None else "UPDATE"


def _kind(kind: str, replaces: bool) -> "proto.PropertyDiff.Kind.ValueType":
    return proto.PropertyDiff.Kind.Value(f"{kind}_REPLACE" if replaces else kind)
