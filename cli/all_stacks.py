"""What shows only where all stacks are looked at together: patches for none of them, and machines that two claim."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from findings import NOTHING, Finding, Place, path_of
from machineconfig import Plan
from machineconfig.levels import check_names, files, levels
from machineconfig.model import in_patches
from topology import Topology
from topology.platforms import PLATFORMS

_ASKS_WHO = re.compile(r"\.data\b|\b(?:node|cluster)\.(?:name|zone|image|address)\s*(?:[=!]=|\.|\b(?:not\s+)?in\b)")
"""In a template: it looks at free values, or compares a name. Any other one is empty because an option is not set."""


def shared(found: Iterable[Iterable[Finding]]) -> tuple[Finding, ...]:
    """What several stacks find and no node's own: stray files among the patches, which is the same for all."""
    count: dict[Finding, int] = {}
    for each in found:
        for finding in each:
            if finding.place.file.startswith(in_patches("")) and not finding.place.nodes:
                count[finding] = count.get(finding, 0) + 1
    return tuple(finding for finding, stacks in count.items() if stacks > 1)


def of_no_stack(plans: Mapping[str, Plan | None], root: Path) -> Iterator[Finding]:
    """What lies in patches/ for nodes and zones of no stack; not known where some stack is refused."""
    known = [plan.topology for plan in plans.values() if plan is not None]
    if len(known) == len(plans):
        yield from check_names(root, known)


def doubts(plans: Mapping[str, Plan | None], root: Path) -> Iterator[Finding]:
    """What is allowed and worth a second look; stacks that are refused, which have no plan, claim nothing."""
    known = {name: plan for name, plan in plans.items() if plan is not None}
    yield from _claimed_twice({name: plan.topology for name, plan in known.items()})
    if len(known) == len(plans):
        yield from _never_used(known.values(), root)


def _claimed_twice(topologies: Mapping[str, Topology]) -> Iterator[Finding]:
    """Machines and names that two stacks claim. Networks of one range may be two, so nobody is refused for it."""
    for (one, first), (other, second) in combinations(topologies.items(), 2):
        where = f"in {one} and in {other}"
        if first.name == second.name:
            yield Finding.at(
                ("name",), first.name, f"is the cluster's name {where}", "give each cluster a name of its own"
            )
        unless = "correct one of them, unless these are two networks"
        yield from _both("nodes.address", f"both {where}", unless, _addresses(first), _addresses(second))
        ours, theirs = (PLATFORMS[each.platform.kind].claims(each) for each in (first, second))
        for path in ours.keys() & theirs.keys():
            yield from _both(path, f"both {where}", "give each machine one of its own", ours[path], theirs[path])


def _never_used(plans: Collection[Plan], root: Path) -> Iterator[Finding]:
    """Patches that some node gets and that are empty for every one; not known where some node has none."""
    if not all(plan.is_complete for plan in plans):
        return
    used = {patch.source for plan in plans for patches in plan.patches.values() for patch in patches}
    folders = {folder for plan in plans for node in plan.topology.nodes for folder in levels(plan.topology, node)}
    for folder in sorted(folders):
        for path in files(root, folder):
            source = path.relative_to(root).as_posix()
            if source not in used and _is_meant_for_somebody(path):
                cure = "correct what it asks for, give the data in a stack file, or take it out"
                yield Finding(Place(in_patches(source)), "is empty for every node of every stack", cure)


def _is_meant_for_somebody(path: Path) -> bool:
    return path.suffix != ".j2" or _ASKS_WHO.search(path.read_text(encoding="utf-8-sig")) is not None


def _both(path: str, message: str, cure: str, mine: Sequence[str], theirs: Sequence[str]) -> Iterator[Finding]:
    both = [each for each in mine if each in theirs]
    if both:
        more = f" and {len(both) - 1} more" if len(both) > 1 else ""
        yield Finding.at(path_of(path), NOTHING, f"{both[0]}{more} {message}", cure)


def _addresses(topology: Topology) -> list[str]:
    vip = [topology.network.vip] if topology.network.vip else []
    return [str(address) for address in (*(node.address for node in topology.nodes), *vip)]
