"""From the stack file's raw value to a topology, or to everything that is wrong with it at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from findings import NOTHING, Finding, FindingsError, Path, Place, near, nearest
from topology.draft import DROP, Draft
from topology.hints import renamed
from topology.platforms import PLATFORMS
from topology.rules import RULES
from topology.rules.rule import Rule
from topology.shape import example_of, field_at, keys_at, shape_of
from topology.topology import Topology
from topology.translate import follows, translate

# Each round takes out what the one before has shown to be faulty; two or three are the rule.
_ROUNDS = 20


class TopologyError(FindingsError):
    """The stack file is refused, with everything that is wrong with it in the order of the file."""


def load(raw: object) -> Topology:
    """Check the value of the key ``cluster`` of a stack file and return it as a topology.

    Raises TopologyError with every fault of the whole file: of single values, of keys, and of what must go together.
    """
    kind = _kind(raw)
    draft = Draft(raw)
    faults, topology = _parse(draft, shape_of(kind))
    if isinstance(raw, dict) and isinstance(raw.get("platform"), dict) and kind is None:
        faults.append(_unknown_kind(raw["platform"]))
    warnings: list[Finding] = []
    if topology is not None:
        platform = PLATFORMS.get(kind or "")
        for rule in (*RULES, *(platform.rules if platform else ())):
            (warnings if rule.warning else faults).extend(_apply(rule, topology, draft))
    if faults or topology is None:
        raise TopologyError(tuple(dict.fromkeys(faults)))
    topology._warnings = tuple(dict.fromkeys(warnings))
    return topology


def _kind(raw: object) -> str | None:
    platform = raw.get("platform") if isinstance(raw, dict) else None
    kind = platform.get("kind") if isinstance(platform, dict) else None
    return kind if isinstance(kind, str) and kind in PLATFORMS else None


def _unknown_kind(platform: dict[object, object]) -> Finding:
    cure = f"write one of {', '.join(PLATFORMS)}"
    if "kind" not in platform:
        return Finding.at(("platform", "kind"), NOTHING, "is missing", cure)
    kind = platform["kind"]
    guess = near(kind, PLATFORMS) if isinstance(kind, str) else ""
    return Finding.at(("platform", "kind"), kind, "is not a platform", cure + guess)


def _parse(draft: Draft, shape: type[Topology]) -> tuple[list[Finding], Topology | None]:
    """Return the faults of single values, and the topology of what is left without them where that is possible."""
    faults: list[Finding] = []
    for _ in range(_ROUNDS):
        try:
            return faults, shape.model_validate(draft.value())
        except ValidationError as error:
            before = dict(draft.damaged)
            faults.extend(_take_out(error, draft, shape))
            if len(draft.damaged) == len(before):
                break
    return faults, None


def _take_out(error: ValidationError, draft: Draft, shape: type[Topology]) -> Iterator[Finding]:
    """Yield the faults of one round and change the draft so that the next one is without them."""
    found = [(draft.place(_loc(each)), each) for each in error.errors(include_url=False) if not follows(each)]
    # A key that was misspelt is there, only not under its name.
    unknown = [place for place, each in found if each["type"] == "extra_forbidden"]
    meant = {name for place in unknown if (name := _meant(place, draft, shape))[-1]}
    for place, each in found:
        also = (*place[:-1], *each.get("ctx", {}).get("also", ()))
        known = place in meant or any(draft.is_damaged(on) for on in (place, also)) or draft.holds_damage(place)
        if not known:
            yield translate(each, place, shape, draft.keys(place[:-1]))
    for place, _ in found:
        field = field_at(shape, place)
        draft.change(place, example_of(field) if field is not None and field.is_required() else DROP)
    for place in meant:
        if not draft.holds_damage(place):
            draft.change(place, DROP)


def _meant(place: Path, draft: Draft, shape: type[Topology]) -> Path:
    """Return the place whose key an unknown one may have been meant to be; it ends with nothing where there is none."""
    above, key = place[:-1], str(place[-1])
    keys = keys_at(shape, above, draft.keys(above))
    return (*above, renamed(key, keys) or nearest(key, keys))


def _loc(error: ErrorDetails) -> Path:
    """Where an error is; what is wrong with a key itself has ``[key]`` behind it, which is no key of the file."""
    loc = error["loc"]
    return loc[:-1] if loc[-1:] == ("[key]",) and error["type"] != "extra_forbidden" else loc


def _apply(rule: Rule, topology: Topology, draft: Draft) -> Iterator[Finding]:
    """Yield what a rule finds, except where it looks at what was faulty by itself."""
    if any(draft.spoils(pattern) for pattern in rule.reads):
        return
    for found in rule.check(topology):
        path = draft.place(found.place.path)
        if not any(draft.is_damaged(each) for each in (path, *map(draft.place, found.also))):
            yield replace(found, place=Place(path=path), also=())
