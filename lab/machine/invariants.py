"""What must never happen to a cluster, watched over the whole world from the journal alone."""

from dataclasses import dataclass, field

from lab.journal import Entry, Journal

QUORUM = "fewer voting etcd members up than a majority"
TWO_DOWN = "two control planes down at once"
SECOND_BOOTSTRAP = "a bootstrap on a second machine"
WRONG_MACHINE = "a configuration on the wrong machine"
NO_FALLBACK = "no version left that a machine has run"
INSTALLED_TWICE = "a machine installed twice for one upgrade"


@dataclass
class _Cluster:
    bootstrapped: str = ""
    voting: set[str] = field(default_factory=set)
    up: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)


class Invariants:
    """Records a ``violation`` each time an invariant breaks, once until it holds again.

    A cluster with one voting member has no majority to keep while that member reboots, so it is left alone. Machines
    that are deleted count as lost only when somebody still asks the rest for something: a destroy takes them all.
    """

    def __init__(self, journal: Journal) -> None:
        """Watch every later entry."""
        self._journal = journal
        self._clusters: dict[str, _Cluster] = {}
        self._cluster_of: dict[str, str] = {}
        self._machines: dict[str, str] = {}
        self._upgraded: dict[str, str] = {}  # the image that each machine was upgraded to, unless it turned back
        self._not_booted: set[str] = set()  # machines with a version that was installed and has not booted yet
        self._on = True
        journal.watch(self._see)

    def off(self) -> None:
        """Stop watching: the world ends."""
        self._on = False

    def _see(self, entry: Entry) -> None:
        if not self._on or entry["event"] == "violation":
            return
        machine = entry["machine"]
        if "cluster" in entry:
            self._cluster_of[machine] = entry["cluster"]
        handler = getattr(self, f"_on_{entry['event'].replace('-', '_')}", None)
        if handler:
            handler(machine, self._clusters.setdefault(self._cluster_of.get(machine, ""), _Cluster()), entry)

    def _on_registered(self, machine: str, _: _Cluster, entry: Entry) -> None:
        self._machines[machine] = entry["address"]

    def _on_deleted(self, machine: str, cluster: _Cluster, _: Entry) -> None:
        self._machines.pop(machine, None)
        cluster.up.discard(machine)

    def _on_call(self, machine: str, cluster: _Cluster, _: Entry) -> None:
        if machine in self._machines:
            self._check(machine, cluster)

    def _on_configuration(self, machine: str, _: _Cluster, entry: Entry) -> None:
        for other, address in self._machines.items():
            own = self._machines.get(machine)
            theirs = entry["hostname"] == other or (address in entry["addresses"] and own not in entry["addresses"])
            if other != machine and theirs:
                self._journal.violation(WRONG_MACHINE, machine, belongs_to=other)

    def _on_installed(self, machine: str, _: _Cluster, entry: Entry) -> None:
        if not entry["beside"]:
            return
        if machine in self._not_booted:
            self._journal.violation(NO_FALLBACK, machine, image=entry["image"])
        if self._upgraded.get(machine) == entry["image"]:
            self._journal.violation(INSTALLED_TWICE, machine, image=entry["image"])
        self._not_booted.add(machine)
        self._upgraded[machine] = entry["image"]

    def _on_boot(self, machine: str, _: _Cluster, __: Entry) -> None:
        self._not_booted.discard(machine)

    def _on_turned_back(self, machine: str, _: _Cluster, __: Entry) -> None:
        self._upgraded.pop(machine, None)

    def _on_wiped(self, machine: str, _: _Cluster, __: Entry) -> None:
        self._not_booted.discard(machine)
        self._upgraded.pop(machine, None)

    def _on_etcd_restored(self, machine: str, cluster: _Cluster, _: Entry) -> None:
        """A cluster that lost its majority begins anew with the one member that has its snapshot."""
        cluster.bootstrapped = machine
        cluster.voting = {machine}
        self._check(machine, cluster)

    def _on_etcd_bootstrap(self, machine: str, cluster: _Cluster, _: Entry) -> None:
        if cluster.bootstrapped not in ("", machine):
            self._journal.violation(SECOND_BOOTSTRAP, machine, first=cluster.bootstrapped)
        cluster.bootstrapped = cluster.bootstrapped or machine
        cluster.voting.add(machine)

    def _on_etcd_voting(self, machine: str, cluster: _Cluster, _: Entry) -> None:
        cluster.voting.add(machine)
        self._check(machine, cluster)

    def _on_etcd_up(self, machine: str, cluster: _Cluster, _: Entry) -> None:
        cluster.up.add(machine)
        self._check(machine, cluster)

    def _on_etcd_down(self, machine: str, cluster: _Cluster, _: Entry) -> None:
        cluster.up.discard(machine)
        if machine in self._machines:
            self._check(machine, cluster)

    def _on_etcd_left(self, machine: str, cluster: _Cluster, entry: Entry) -> None:
        """Of its own accord, or removed by ``machine``: those that stay need a majority among themselves."""
        cluster.voting.discard(entry["member"])
        self._check(machine, cluster)

    def _check(self, machine: str, cluster: _Cluster) -> None:
        down = cluster.voting - cluster.up
        lost = len(cluster.voting) - len(down) < len(cluster.voting) // 2 + 1
        self._judge(QUORUM, lost and len(cluster.voting) > 1, machine, cluster)
        self._judge(TWO_DOWN, len(down) > 1, machine, cluster)

    def _judge(self, invariant: str, broken: bool, machine: str, cluster: _Cluster) -> None:
        if not broken:
            cluster.broken.discard(invariant)
        elif invariant not in cluster.broken:
            cluster.broken.add(invariant)
            down = sorted(cluster.voting - cluster.up)
            self._journal.violation(invariant, machine, voting=sorted(cluster.voting), down=down)
