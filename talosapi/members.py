"""The members of etcd, put together from what machines say; and what is doubtful about them. Nothing is asked here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from talosapi.results import EtcdMember


@dataclass(frozen=True)
class View:
    """What one machine says of etcd: a control plane of the stack file, or a member that is none (not ``in_file``).

    ``up``: its member works; False: the machine says that none runs on it; None: unknown. ``members`` is its own list,
    None where it gives none. ``said`` and ``cure`` tell why it is not up. ``answers``: something with data of its own
    does; a machine in maintenance mode has lost what it had.
    """

    name: str
    address: str
    up: bool | None
    members: tuple[EtcdMember, ...] | None = None
    member_id: int = 0
    said: str = ""
    cure: str = ""
    answers: bool = True
    in_file: bool = True


@dataclass(frozen=True)
class Seat:
    """A member of etcd, and the view of the machine that it runs on if there is one."""

    member: EtcdMember
    view: View | None

    @property
    def name(self) -> str:
        """Return how messages name it."""
        return self.view.name if self.view else f"{self.member.hostname or 'a member without a name'} ({self.id})"

    @property
    def id(self) -> str:
        """Return its member id as talosctl writes it."""
        return f"{self.member.id:016x}"

    @property
    def up(self) -> bool | None:
        """Return whether it works, None when that is not known."""
        return self.view.up if self.view else None


@dataclass(frozen=True)
class Reason:
    """What stands against a step, and what to do about it."""

    words: str
    cure: str


@dataclass(frozen=True)
class Etcd:
    """The members, put together from all views. Where the lists differ, ``seats`` are those of any of them."""

    views: tuple[View, ...]
    seats: tuple[Seat, ...]

    @classmethod
    def of(cls, views: Sequence[View]) -> "Etcd":
        """Match members and machines: by the id that a machine says it has, else by address."""
        members = {member.id: member for view in reversed(views) for member in view.members or ()}
        return cls(tuple(views), tuple(Seat(member, _machine_of(member, views)) for member in members.values()))

    @property
    def voters(self) -> list[Seat]:
        """Return the members that vote."""
        return [seat for seat in self.seats if not seat.member.is_learner]

    @property
    def planes(self) -> list[View]:
        """Return the control planes of the stack file."""
        return [view for view in self.views if view.in_file]

    @property
    def strangers(self) -> list[Seat]:
        """Return the members that are no control planes of the stack file."""
        return [seat for seat in self.seats if not seat.view or not seat.view.in_file]

    @property
    def not_voting(self) -> list[View]:
        """Return the control planes of the stack file that do not vote."""
        voting = [seat.view for seat in self.voters]
        return [view for view in self.planes if view not in voting]

    def doubts(self, besides: str = "") -> Iterator[Reason]:
        """Yield what leaves the members unknown or unsettled; nothing about the machine ``besides``."""
        yield from self._of_the_lists()
        for view in self.planes:
            if view.up is None and view.name != besides:
                yield Reason(f"{view.name} is unknown: {view.said}", view.cure or "look at its console")
        for seat in self.strangers:
            if seat.name != besides:
                yield stranger(seat, self)
        for seat in self.seats:
            if seat.member.is_learner and seat.name != besides and seat not in self.strangers:
                yield Reason(f"{seat.name} is a learner that does not vote yet", "wait until it votes")

    def _of_the_lists(self) -> Iterator[Reason]:
        lists = {view.name: _content(view.members) for view in self.views if view.members is not None}
        if not lists:
            cure = "`talosctl etcd members` on each of them says what they know; restore the quorum before any change"
            yield Reason("no control plane says who the members are", cure)
        elif len(set(lists.values())) > 1:
            told = "; ".join(f"{name} has {_told(content)}" for name, content in lists.items())
            yield Reason(
                f"the member lists differ: {told}", "wait until they agree: `talosctl etcd members` shows them"
            )


def stranger(seat: Seat, etcd: Etcd) -> Reason:
    """Say of a member that is no control plane of the stack file what it is. Only a silent one is to be removed."""
    view = seat.view
    words = f"there is also {seat.name}{f' ({seat.id})' if view else ''}, which counts for the majority"
    if not view:
        return Reason(words, "look at its console: whether it lives is not known")
    if view.answers:
        return Reason(f"{words} and answers", _keep(seat, view, etcd))
    asked = next((plane.address for plane in etcd.planes if plane.up), "ADDRESS")
    cure = f"if it is gone for good: `talosctl -n {asked} etcd remove-member {seat.id}`"
    return Reason(f"{words} and does not answer ({view.said})", cure)


def _keep(seat: Seat, view: View, etcd: Etcd) -> str:
    if any(plane.name == seat.member.hostname for plane in etcd.planes):
        return (
            f"an address is the identity of a machine: put {view.address} back into the stack file; to move the"
            " machine, take it out of the cluster first and add it as a new one"
        )
    return (
        f"it lives: put it back into the stack file; to retire it, let it leave etcd first with `talosctl -n"
        f" {view.address} reset`, one machine at a time and only while all others are up"
    )


def _machine_of(member: EtcdMember, views: Sequence[View]) -> View | None:
    hosts = {str(urlsplit(url).hostname) for url in member.peer_urls}
    by_id = [view for view in views if view.member_id == member.id]
    by_address = [view for view in views if view.address in hosts and view.member_id in {0, member.id}]
    return next(iter([*by_id, *by_address]), None)


def _content(members: Sequence[EtcdMember]) -> frozenset[tuple[int, bool]]:
    return frozenset((member.id, member.is_learner) for member in members)


def _told(content: frozenset[tuple[int, bool]]) -> str:
    return " ".join(f"{id_:016x}{' (learner)' if learner else ''}" for id_, learner in sorted(content)) or "none"
