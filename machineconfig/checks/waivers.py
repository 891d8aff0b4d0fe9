"""Findings that a stack file waives, by check and node, with a reason; and waivers that waive nothing."""

from collections.abc import Collection, Iterable, Iterator

from findings import Finding, nearest
from topology import Topology, Waiver


def waived(topology: Topology, finding: Finding) -> bool:
    """Whether the stack file waives a finding. One that no check says is a fault, and nobody can waive it."""
    return any(_covers(waiver, finding) for waiver in topology.waivers)


def waiver_faults(
    topology: Topology, findings: Iterable[Finding], checks: Collection[str], *, sure: Collection[str]
) -> Iterator[Finding]:
    """A waiver of a check that there is not, and, of the checks that could look at everything, one that was not needed.

    `sure` are those checks.
    """
    findings = tuple(findings)
    for index, waiver in enumerate(topology.waivers):
        path = ("waivers", index, "check")
        if waiver.check not in checks:
            near = nearest(waiver.check, checks)
            cure = f"write {near}" if near else "write the word in brackets at the end of a finding"
            yield Finding.at(path, waiver.check, "is not the id of a check", cure)
        elif waiver.check in sure and not any(_covers(waiver, finding) for finding in findings):
            where = f" of {waiver.node}" if waiver.node else ""
            yield Finding.at(path, waiver.check, f"waives no finding{where}", "take the waiver out")


def _covers(waiver: Waiver, finding: Finding) -> bool:
    in_scope = waiver.node is None or waiver.node in finding.place.nodes
    return bool(finding.check) and waiver.check == finding.check and in_scope
