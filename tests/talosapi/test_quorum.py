"""The arithmetic of the quorum: against a plain model of it, and against the lab's invariants."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from lab.journal import Journal
from lab.machine.invariants import Invariants
from talosapi import quorum
from talosapi.members import View
from talosapi.quorum import Decision, Step
from talosapi.results import EtcdMember
from tests.fuzz.profile import examples


@dataclass(frozen=True)
class Node:
    """The truth about one machine, and what can be known of it."""

    name: str
    member: str  # voter, learner or none
    up: bool  # its member works
    in_file: bool
    says: bool  # it answers when it is asked
    stale: bool  # its list has one member too many


def voter(name: str, **known: Any) -> Node:
    return Node(name, **{"member": "voter", "up": True, "in_file": True, "says": True, "stale": False, **known})


State = list[Node]


def member(index: int, learner: bool = False) -> EtcdMember:
    return EtcdMember(index + 1, f"m{index}", (f"https://10.0.0.{index}:2380",), (), learner)


def views(state: State) -> list[View]:
    """What a run would see: every control plane of the file is asked, and every member that is none."""
    members = tuple(
        member(index, node.member == "learner") for index, node in enumerate(state) if node.member != "none"
    )
    seen = []
    for index, node in enumerate(state):
        common: dict[str, Any] = {"name": node.name, "address": f"10.0.0.{index}", "in_file": node.in_file}
        if not node.says:
            seen.append(View(**common, up=None, answers=False, said="no answer"))
        elif node.up and node.member != "none":
            own = (*members, member(99)) if node.stale else members
            seen.append(View(**common, up=True, members=own, member_id=index + 1))
        else:
            seen.append(View(**common, up=False, said="etcd is Waiting"))
    return [view for view, node in zip(seen, state, strict=True) if node.in_file or node.member != "none"]


def model(step: Step, own: Node, state: State, accept: bool) -> bool:
    """Say the same in other words: by what a person knows who walks from machine to machine."""
    if step is Step.GOES_DOWN and own.says and not (own.up and own.member != "none"):
        return True
    others = [node for node in state if node is not own]
    speakers = [node for node in state if node.says and node.up and node.member != "none"]
    if not speakers or len({node.stale for node in speakers}) > 1 or speakers[0].stale:
        return False
    if any(node.in_file and not node.says for node in others):
        return False
    if any(node.member != "none" and not (node.in_file and node.member == "voter") for node in others):
        return False
    left = [node for node in others if node.member == "voter"]
    well = [node for node in left if node.up and node.says]
    if own.member != "voter":
        return step is not Step.LEAVES or own.member == "none" or 2 * len(well) > len(left)
    if step is Step.LEAVES:
        if own.up and own.says:
            return bool(left) and well == left
        return 2 * len(well) > len(left) + 1
    if well != left:
        return False
    if 2 * len(well) > len(left) + 1:
        return True
    planes = sum(node.in_file for node in state)
    by_design = own.in_file and planes == len(left) + 1 and (planes == 1 or (planes == 2 and accept))
    return by_design and step is Step.GOES_DOWN


nodes = st.builds(
    Node,
    name=st.just(""),
    member=st.sampled_from(["voter", "voter", "voter", "voter", "learner", "none"]),
    up=st.sampled_from([True, True, True, False]),
    in_file=st.sampled_from([True, True, True, True, False]),
    says=st.sampled_from([True, True, True, True, True, False]),
    stale=st.just(False),
)


@st.composite
def states(draw: st.DrawFn) -> State:
    """One to six machines; sometimes one of them has a list that the others do not have."""
    drawn = draw(st.lists(nodes, min_size=1, max_size=6))
    odd = draw(st.sampled_from([None, None, None, *range(len(drawn))]))
    speakers = [index for index, node in enumerate(drawn) if node.says and node.up and node.member != "none"]
    return [
        Node(f"m{index}", node.member, node.up, node.in_file, node.says, index == odd and len(speakers) > 1)
        for index, node in enumerate(drawn)
    ]


def decide(step: Step, name: str, state: State, accept: bool = False) -> Decision:
    return quorum.may(step, name, views(state), accept_loss=accept)


@examples(2000)
@given(states(), st.sampled_from(list(Step)), st.integers(0, 5), st.booleans())
def test_it_agrees_with_the_model_and_a_yes_breaks_no_invariant(
    state: State, step: Step, index: int, accept: bool
) -> None:
    own = state[index % len(state)]
    if not own.in_file and own.member == "none":
        return
    decision = decide(step, own.name, state, accept)
    event("yes" if decision.yes else "no")
    assert decision.yes is model(step, own, state, accept), decision
    assert decision.yes or (decision.words and decision.cure), decision
    living = {node.name for node in state if node.says}
    assert not any(f"m{index}" in living for index in advised_to_remove(decision, state)), decision
    if decision.yes and not accept:
        assert violations(step, own, state) == [], decision


def advised_to_remove(decision: Decision, state: State) -> Iterator[int]:
    return (index for index in range(len(state)) if f"remove-member {index + 1:016x}" in decision.cure)


def violations(step: Step, own: Node, state: State) -> list[Any]:
    """Let the step happen in the journal of a lab, and return the invariants that it breaks."""
    with Journal(Path("/dev/null")) as journal:
        Invariants(journal)
        for name, machine, fields in journal_of(state):
            journal.record(name, machine, cluster="c", **fields)
        before = len(journal.violations())
        works = own.up and own.member != "none"
        other = next((node.name for node in state if node is not own), own.name)
        if step is Step.LEAVES and own.member != "none":
            journal.record("etcd-left", other, cluster="c", member=own.name)
        if works:
            journal.record("etcd-down", own.name, cluster="c", why="stopped")
        if step is Step.IS_LOST:
            journal.record("deleted", own.name)
            journal.record("call", other, cluster="c")
        return journal.violations()[before:]


def journal_of(state: State) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for index, node in enumerate(state):
        yield "registered", node.name, {"address": f"10.0.0.{index}"}
    for node in state:
        if node.member == "voter":
            yield "etcd-voting", node.name, {}
        if node.member != "none" and node.up:
            yield "etcd-up", node.name, {}


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (
            [voter("a"), voter("b")],
            "etcd has 2 voters (a, b), 2 up, a majority of 2 is 2, and without a 1 would be left; that is not a"
            " majority",
        ),
        (
            [voter("a"), voter("b"), voter("c", member="none")],
            "etcd has 2 voters (a, b), 2 up, a majority of 2 is 2, and without a 1 would be left, control planes of the"
            " stack file that do not vote: c (etcd is Waiting); that is not a majority",
        ),
        (
            [voter("a"), voter("b"), voter("c", up=False)],
            "etcd has 3 voters (a, b, c), 2 up, a majority of 3 is 2, and without a 1 would be left; c is not up",
        ),
    ],
)
def test_a_refusal_says_who_votes_who_is_up_what_a_majority_is_and_what_would_be_left(state: State, words: str) -> None:
    assert decide(Step.GOES_DOWN, "a", state).words == words


def test_two_are_told_to_become_three_or_to_say_that_they_are_meant() -> None:
    state = [voter("a"), voter("b")]
    decision = decide(Step.GOES_DOWN, "a", state)
    assert decision.lasting and "add a third control plane" in decision.cure
    assert "rollout.acceptQuorumLoss: true" in decision.cure
    assert decide(Step.GOES_DOWN, "a", state, accept=True).yes
    assert not decide(Step.IS_LOST, "a", state, accept=True).yes


def test_the_only_control_plane_goes_down_as_it_must_and_is_never_given_up() -> None:
    state = [voter("a")]
    assert decide(Step.GOES_DOWN, "a", state).yes
    for step in (Step.LEAVES, Step.IS_LOST):
        decision = decide(step, "a", state)
        assert not decision.yes and decision.words.endswith("it is the last voter, and has the only copy of the data")


def test_a_control_plane_that_does_not_vote_is_named_also_where_the_step_is_allowed() -> None:
    state = [voter("a"), voter("b"), voter("c"), voter("d", member="none")]
    decision = decide(Step.GOES_DOWN, "a", state)
    assert decision.yes and "d (etcd is Waiting)" in decision.lacking
