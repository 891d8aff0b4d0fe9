"""May a control plane go down, or leave etcd? The arithmetic, from what the machines say. Nothing is asked here.

What is not known is never a yes: a control plane that does not answer, or member lists that differ, refuse every step
that could cost a vote.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from talosapi.members import Etcd, Reason, Seat, View

ACCEPT = "rollout.acceptQuorumLoss"
"""The key of the stack file that lets one of two control planes go down."""


class Step(Enum):
    """What is about to happen to a machine; the values are for messages."""

    GOES_DOWN = "go down"
    """It reboots or stops, and comes back with its data."""
    LEAVES = "leave etcd"
    """It is no member afterwards."""
    IS_LOST = "be lost"
    """It is deleted, replaced or wiped without leaving: it stays a member, and is never up again."""


@dataclass(frozen=True)
class Decision:
    """Whether the step may be taken, the arithmetic in ``words``, and what to do where it may not.

    ``lacking`` names control planes of the stack file that do not vote, also where a vote may be spared. ``lasting``:
    waiting does not change a no. ``while_down``: a yes only because no member runs on the machine; others are down too.
    """

    yes: bool
    words: str
    cure: str = ""
    lacking: str = ""
    lasting: bool = False
    while_down: bool = False


def may(step: Step, name: str, views: Sequence[View], *, accept_loss: bool = False) -> Decision:
    """Decide whether the machine of that name may take the step now.

    ``accept_loss``: the stack has two control planes and accepts that etcd stops while one of them is down.
    """
    etcd = Etcd.of(views)
    own = next((seat for seat in etcd.seats if seat.name == name), None)
    learners = [seat.view for seat in etcd.seats]
    lacking = ", ".join(
        f"{view.name} ({view.said or ('a learner' if view in learners else 'no member of etcd')})"
        for view in etcd.not_voting
    )
    lacking = lacking and f"control planes of the stack file that do not vote: {lacking}"
    words = ", ".join(filter(None, [_arithmetic(step, name, own, etcd), lacking]))
    if step is Step.GOES_DOWN and any(view.name == name and view.up is False for view in views):
        down = any(seat.up is not True for seat in etcd.voters if seat is not own) or not etcd.seats
        words += "; no member runs on it, so no vote is lost"
        return Decision(True, words, while_down=down)
    doubts = list(etcd.doubts(besides=name))
    objections = list(_objections(step, own, etcd, accept_loss))
    if not doubts and not objections:
        return Decision(True, words, lacking=lacking)
    reasons = [*doubts, *objections]
    return Decision(
        False,
        "; ".join([words, *(reason.words for reason in reasons)]),
        cure="; ".join(dict.fromkeys(reason.cure for reason in reasons if reason.cure)),
        lacking=lacking,
        lasting=not doubts and not etcd.not_voting and all(seat.up for seat in etcd.voters),
    )


def majority(voters: int) -> int:
    """Return how many of so many voters must be up."""
    return voters // 2 + 1


def _objections(step: Step, own: Seat | None, etcd: Etcd, accept_loss: bool) -> Iterator[Reason]:
    """Yield what the arithmetic has against the step of a member."""
    if own is None:
        return
    others = [seat for seat in etcd.voters if seat is not own]
    up = sum(seat.up is True for seat in others)
    if own.member.is_learner:
        if step is Step.LEAVES and up < majority(len(others)):
            yield Reason("there is no majority, which its removal needs", "restore the quorum first")
        return
    if step is Step.LEAVES and own.up is not True:  # the way to get rid of a member that is lost already
        if not others or up < majority(len(others)) or up < majority(len(others) + 1):
            yield Reason("those that are up are not a majority, which its removal needs", "restore the quorum first")
        return
    for seat in others:
        if seat.up is not True:
            yield Reason(f"{seat.name} is not up", _mend(seat))
    if step is Step.LEAVES and others:
        return
    if len(others) < majority(len(others) + 1) and not _meant(step, etcd, accept_loss):
        yield _too_few(step, etcd)


def _meant(step: Step, etcd: Etcd, accept_loss: bool) -> bool:
    """Tell whether the stack has as few control planes as vote, and accepts what that means."""
    enough = len(etcd.planes) == len(etcd.voters) and not etcd.not_voting
    return step is Step.GOES_DOWN and enough and (len(etcd.planes) == 1 or (len(etcd.planes) == 2 and accept_loss))


def _too_few(step: Step, etcd: Etcd) -> Reason:
    if etcd.not_voting:
        cures = [
            f"get {view.name} to vote first: `talosctl -n {view.address} service etcd` says why it does not; one"
            f" that was removed from etcd joins again after `talosctl -n {view.address} reset --graceful=false --reboot"
            " --system-labels-to-wipe EPHEMERAL`"
            for view in etcd.not_voting
        ]
        return Reason("that is not a majority", "; ".join(cures))
    if len(etcd.voters) == 1:
        return Reason("it is the last voter, and has the only copy of the data", "add a control plane first")
    cure = "add a third control plane first"
    if step is Step.GOES_DOWN:
        cure += f"; if two are intended, set {ACCEPT}: true; etcd then stops while one of them is down"
    return Reason("that is not a majority", cure)


def _arithmetic(step: Step, name: str, own: Seat | None, etcd: Etcd) -> str:
    if not etcd.seats:
        return "the voters of etcd are not known"
    voters = etcd.voters
    up = sum(seat.up is True for seat in voters)
    left = sum(seat.up is True for seat in voters if seat is not own)
    known = f"{_count(len(voters), 'voter')} ({', '.join(seat.name for seat in voters)}), {up} up"
    if own is None or own.member.is_learner:
        return f"etcd has {known}, a majority is {majority(len(voters))}, and {name} is not one of them"
    of = len(voters) - 1 if step is Step.LEAVES else len(voters)
    return f"etcd has {known}, a majority of {of} is {majority(of)}, and without {name} {left} would be left"


def _mend(seat: Seat) -> str:
    view = seat.view
    return (view.cure if view else "") or f"fix it first: `talosctl -n {view.address if view else 'ADDRESS'} services`"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
