"""Every rule has a stack file that breaks it, and the file's first lines are what it must give."""

from pathlib import Path

import pytest

from tests.topology.stacks import announced, cluster, stack_files
from topology import TopologyError, load
from topology.draft import Draft
from topology.loader import _kind, _parse
from topology.platforms import PLATFORMS
from topology.rules import RULES
from topology.rules.rule import Rule
from topology.shape import shape_of


def by_name(file: Path) -> str:
    return file.stem


@pytest.mark.parametrize("file", stack_files("valid"), ids=by_name)
def test_a_valid_stack_loads_without_a_warning(file: Path) -> None:
    assert load(cluster(file)).warnings == ()


@pytest.mark.parametrize("file", stack_files("warned"), ids=by_name)
def test_a_doubtful_stack_loads_with_the_warnings_it_announces(file: Path) -> None:
    assert [str(warning) for warning in load(cluster(file)).warnings] == announced(file)


@pytest.mark.parametrize("file", stack_files("invalid"), ids=by_name)
def test_an_invalid_stack_is_refused_with_the_faults_it_announces(file: Path) -> None:
    with pytest.raises(TopologyError) as caught:
        load(cluster(file))
    assert [str(fault) for fault in caught.value.findings] == announced(file)
    assert str(caught.value).splitlines() == announced(file)


def test_ten_faults_are_told_in_one_run() -> None:
    file = next(file for file in stack_files("invalid") if file.stem == "ten-faults")
    with pytest.raises(TopologyError) as caught:
        load(cluster(file))
    assert len({fault.place.path for fault in caught.value.findings}) == 10


def test_no_fault_shows_what_could_be_a_secret() -> None:
    for file in stack_files("invalid"):
        assert "not-to-be-shown" not in "\n".join(announced(file))
    assert any("not-to-be-shown" in file.read_text() for file in stack_files("invalid"))


def rules_with_findings(file: Path) -> set[str]:
    raw = cluster(file)
    _, topology = _parse(Draft(raw), shape_of(_kind(raw)))
    if topology is None:
        return set()
    kind = PLATFORMS.get(topology.platform.kind)
    rules = (*RULES, *(kind.rules if kind else ()))
    return {rule.check.__name__ for rule in rules if any(rule.check(topology))}


def every_rule() -> list[Rule]:
    return [*RULES, *(rule for platform in PLATFORMS.values() for rule in platform.rules)]


def test_every_rule_is_broken_by_a_stack_file() -> None:
    broken = set[str]().union(
        *(rules_with_findings(file) for file in (*stack_files("invalid"), *stack_files("warned")))
    )
    assert {rule.check.__name__ for rule in every_rule()} <= broken


def test_rules_are_named_once_and_say_what_they_hold() -> None:
    names = [rule.check.__name__ for rule in every_rule()]
    assert len(names) == len(set(names))
    assert all(rule.check.__doc__ for rule in every_rule())
