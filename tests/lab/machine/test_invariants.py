"""What must never happen to a cluster is seen from the journal alone."""

from pathlib import Path

import pytest

from lab.journal import Journal
from lab.machine.invariants import (
    INSTALLED_TWICE,
    NO_FALLBACK,
    QUORUM,
    SECOND_BOOTSTRAP,
    TWO_DOWN,
    WRONG_MACHINE,
    Invariants,
)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = Journal(tmp_path / "journal.jsonl")
    Invariants(journal)
    for number in (1, 2, 3):
        journal.record("registered", f"cp{number}", address=f"10.0.0.{number}")
    return journal


def happens(journal: Journal, *events: str) -> list[str]:
    """Record "event machine" pairs of one cluster and return the invariants that broke."""
    for text in events:
        event, machine = text.split()
        journal.record(event, machine, cluster="demo", **({"member": machine} if event == "etcd-left" else {}))
    return [str(entry["invariant"]) for entry in journal.violations()]


UP = ("etcd-bootstrap cp1", "etcd-up cp1", "etcd-up cp2", "etcd-voting cp2", "etcd-up cp3", "etcd-voting cp3")


def test_a_cluster_that_comes_up_and_reboots_one_after_the_other_breaks_nothing(journal: Journal) -> None:
    rolling = (f"{event} cp{number}" for number in (1, 2, 3) for event in ("etcd-down", "etcd-up"))
    assert happens(journal, *UP, *rolling) == []


def test_two_of_three_down_is_a_lost_majority_and_two_down_at_once(journal: Journal) -> None:
    assert happens(journal, *UP, "etcd-down cp1", "etcd-down cp2") == [QUORUM, TWO_DOWN]


def test_a_broken_invariant_is_reported_once_until_it_holds_again(journal: Journal) -> None:
    broken = ("etcd-down cp1", "etcd-down cp2", "etcd-down cp3")
    assert happens(journal, *UP, *broken) == [QUORUM, TWO_DOWN]
    assert happens(journal, "etcd-up cp1", "etcd-up cp2", "etcd-down cp1") == [QUORUM, TWO_DOWN, QUORUM, TWO_DOWN]


def test_a_learner_that_is_down_breaks_nothing(journal: Journal) -> None:
    assert happens(journal, *UP[:5], "etcd-down cp3") == []


def test_a_single_member_may_reboot(journal: Journal) -> None:
    assert happens(journal, "etcd-bootstrap cp1", "etcd-up cp1", "etcd-down cp1") == []


def test_a_member_that_left_is_not_missed(journal: Journal) -> None:
    assert happens(journal, *UP, "etcd-left cp3", "etcd-down cp3") == []


def test_a_second_bootstrap_is_seen_and_the_same_machine_again_is_not(journal: Journal) -> None:
    assert happens(journal, "etcd-bootstrap cp1", "etcd-bootstrap cp1") == []
    assert happens(journal, "etcd-bootstrap cp2") == [SECOND_BOOTSTRAP]


def test_destroying_all_machines_breaks_nothing_but_a_call_to_the_rest_does(journal: Journal) -> None:
    gone = ("deleted cp1", "etcd-down cp1", "deleted cp2", "etcd-down cp2")
    assert happens(journal, *UP, *gone) == []
    journal.record("call", "cp3", method="Version")
    assert [entry["invariant"] for entry in journal.violations()] == [QUORUM, TWO_DOWN]


@pytest.mark.parametrize(
    ("hostname", "addresses", "wrong"),
    [
        ("cp1", ["10.0.0.1"], False),
        ("cp2", [], True),
        ("other", ["10.0.0.3"], True),
        ("other", ["10.0.0.1", "10.0.0.3"], False),
        ("", [], False),
    ],
)
def test_a_configuration_with_the_name_or_address_of_another_machine_is_seen(
    journal: Journal, hostname: str, addresses: list[str], wrong: bool
) -> None:
    journal.record("configuration", "cp1", hostname=hostname, addresses=addresses)
    assert [entry["invariant"] for entry in journal.violations()] == [WRONG_MACHINE] * wrong


def upgrades(journal: Journal, *images: str) -> list[str]:
    """Install images on a machine one after the other; other words are events between. Return what broke."""
    for word in images:
        if "/" in word:
            journal.record("installed", "cp1", image=word, version="v1.14.1", beside="v1.13.9")
        else:
            journal.record(word, "cp1")
    return [str(entry["invariant"]) for entry in journal.violations()]


def test_one_installation_for_each_upgrade_breaks_nothing(journal: Journal) -> None:
    assert upgrades(journal, "x/a", "boot", "x/b", "boot", "x/a", "boot") == []


def test_an_installation_before_the_last_one_has_booted_leaves_no_fallback(journal: Journal) -> None:
    assert upgrades(journal, "x/a", "x/b", "boot") == [NO_FALLBACK]


def test_what_was_installed_is_not_installed_again_unless_the_machine_turned_back(journal: Journal) -> None:
    assert upgrades(journal, "x/a", "boot", "turned-back", "boot", "x/a", "boot", "wiped", "x/a", "boot") == []
    assert upgrades(journal, "x/a") == [INSTALLED_TWICE]


def test_a_cluster_that_was_restored_misses_none_of_its_old_members(journal: Journal) -> None:
    assert happens(journal, *UP, "etcd-down cp1", "etcd-down cp2") == [QUORUM, TWO_DOWN]
    assert happens(journal, "etcd-down cp3", "etcd-restored cp2", "etcd-up cp2") == [QUORUM, TWO_DOWN]
