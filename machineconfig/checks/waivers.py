"""Findings that a stack file waives, by rule and node, with a reason; and waivers that waive nothing."""

import difflib
from collections.abc import Collection, Iterable, Iterator

from machineconfig.model import Finding
from topology import Fault, Topology, Waiver


def waived(topology: Topology, finding: Finding) -> bool:
    """Whether the stack file waives a finding. One without a rule is a fault, and nobody can waive it."""
    return any(_covers(waiver, finding) for waiver in topology.waivers)


def waiver_faults(
    topology: Topology, findings: Iterable[Finding], rules: Collection[str], *, sure: Collection[str]
) -> Iterator[Fault]:
    """A waiver of a rule that there is not, and, of the rules that could look at everything, one that was not needed.

    `sure` are those rules.
    """
    findings = tuple(findings)
    for index, waiver in enumerate(topology.waivers):
        path = f"waivers[{index}].rule"
        if waiver.rule not in rules:
            near = difflib.get_close_matches(waiver.rule, rules, n=1)
            cure = f"write {near[0]}" if near else "write the word in brackets at the end of a finding"
            yield Fault(path, waiver.rule, "is the id of no check", cure)
        elif waiver.rule in sure and not any(_covers(waiver, finding) for finding in findings):
            where = f" of {waiver.node}" if waiver.node else ""
            yield Fault(path, waiver.rule, f"waives no finding{where}", "take the waiver out")


def _covers(waiver: Waiver, finding: Finding) -> bool:
    return bool(finding.rule) and waiver.rule == finding.rule and waiver.node in (None, finding.node)
