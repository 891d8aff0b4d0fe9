"""A run that is killed, at any point: one command, and the next run converges with the secrets that were made."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stack.killing import Seen, kill_when, locks, look, recover, state_file, state_of
from tests.stack.rehearsal import Rehearsal, name_of

pytestmark = pytest.mark.stack

SECRETS = "Secrets machine-secrets"
MADE_BY_A_PROVIDER = ("Secrets", "Schematic", "ConfigurationApply", "Bootstrap", "Kubeconfig")
NewRehearsal = Callable[[], Rehearsal]


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_SPEED", "100")


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[NewRehearsal]:
    """Gives one new lab after another; only the last one is up."""
    made: list[Rehearsal] = []

    def new() -> Rehearsal:
        if made:
            made[-1].down()
        made.append(Rehearsal(tmp_path / str(len(made))))
        made[-1].start()
        return made[-1]

    yield new
    for rehearsal in made[-1:]:
        rehearsal.down()


@pytest.mark.timeout(900)
def test_a_run_killed_after_every_step_in_turn_converges_with_the_same_secrets_and_one_bootstrap(
    fresh: NewRehearsal,
) -> None:
    """One cluster whose run is killed again and again: after each step, and during each kind of work of a provider.

    That is what kills of many first runs would show: a next run depends on the state and on the machines alone, and
    both are the same here as after a first run killed at that step. Only the machines had more time, so the moments in
    which that matters are killed in first runs too, by the tests below, and ``make test-exhaustive`` kills a first run
    after each step. Each next run proves the one before: it comes at least one step further from where that one died.
    """
    rehearsal = fresh()
    reached: set[int] = set()
    interrupted: set[str] = set()
    first: Any = None
    while (seen := killed_at_next_point(rehearsal, interrupted)) is not None:
        reached.add(len(seen.recorded))
        first = first or certificates(rehearsal)
        recovered(rehearsal, seen, first)
    everything = look(rehearsal).recorded
    assert converged(rehearsal, first) and set(MADE_BY_A_PROVIDER) == interrupted
    for steps in sorted(set(range(1, len(everything) + 1)) - reached):
        survives_a_kill_after(steps, fresh)


@pytest.mark.parametrize(
    ("point", "now"),
    [
        ("while the machine secrets are made", lambda seen: SECRETS in seen.pending),
        ("when a first machine took its configuration", lambda seen: "configuration" in seen.events),
        ("when etcd was bootstrapped", lambda seen: "etcd-bootstrap" in seen.events),
        ("while it waits for a healthy cluster", lambda seen: "Kubeconfig kubeconfig" in seen.pending),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_a_first_run_killed_at_a_risky_moment_converges(
    point: str, now: Callable[[Seen], bool], fresh: NewRehearsal
) -> None:
    rehearsal = fresh()
    seen = kill_when(rehearsal, now)
    assert seen is not None, f"the run ended without the point {point}"
    first = certificates(rehearsal)
    recovered(rehearsal, seen, first)
    rehearsal.up()
    assert converged(rehearsal, first)


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
def test_a_first_run_killed_after_any_step_converges(fresh: NewRehearsal) -> None:
    rehearsal = fresh()
    rehearsal.up()
    for steps in range(1, len(look(rehearsal).recorded) + 1):
        survives_a_kill_after(steps, fresh)


def test_a_stack_whose_run_goes_or_may_go_is_left_alone(rehearsal: Rehearsal) -> None:
    rehearsal.start()
    refusals: list[str] = []

    def meanwhile(seen: Seen) -> bool:
        if SECRETS not in seen.recorded:
            return False
        refusals.append(recover_refused(rehearsal))
        return True

    assert kill_when(rehearsal, meanwhile) is not None
    left = state_file(rehearsal).read_bytes()
    assert "a run of lab is still running" in refusals[0] and "nothing was changed" in refusals[0]

    (lock,) = locks(rehearsal)
    lock.write_text(json.dumps(json.loads(lock.read_text()) | {"hostname": "elsewhere"}))
    refusal = recover_refused(rehearsal)
    assert "@elsewhere (pid" in refusal and "make recover STACK=lab FORCE=yes" in refusal
    assert state_file(rehearsal).read_bytes() == left and locks(rehearsal) == [lock]

    assert "lock removed" in recover(rehearsal, "--force")
    assert recover(rehearsal).startswith("nothing to recover")


def test_a_run_killed_while_it_wrote_attributes_of_the_state_is_recovered(rehearsal: Rehearsal) -> None:
    rehearsal.start()
    seen = kill_when(rehearsal, lambda seen: SECRETS in seen.recorded)
    assert seen is not None
    first = certificates(rehearsal)
    attributes = state_file(rehearsal).with_suffix(".json.attrs")
    attributes.write_text("")
    assert "EOF" in rehearsal.pulumi("stack", "export", fails=True), "what the engine says of it without a recovery"
    recovered(rehearsal, seen, first)
    assert not attributes.exists() or attributes.read_text()


def killed_at_next_point(rehearsal: Rehearsal, interrupted: set[str]) -> Seen | None:
    """Kill the next run after its first new step, or as soon as it does a kind of work that was never interrupted."""
    before = look(rehearsal).recorded

    def now(seen: Seen) -> bool:
        kinds = {name.split()[0] for name in seen.pending} & set(MADE_BY_A_PROVIDER)
        new = kinds - interrupted
        interrupted.update(new)
        return bool(new) or seen.recorded > before

    return kill_when(rehearsal, now)


def survives_a_kill_after(steps: int, fresh: NewRehearsal) -> None:
    """Kill a first run after that many steps, bring the cluster up all the same."""
    for _ in range(3):
        rehearsal = fresh()
        seen = kill_when(rehearsal, lambda seen: len(seen.recorded) >= steps)
        assert seen is not None
        if len(seen.recorded) == steps:
            break
    else:
        raise AssertionError(f"no run could be killed right after step {steps}")
    first = certificates(rehearsal)
    recovered(rehearsal, seen, first)
    rehearsal.up()
    assert converged(rehearsal, first)


def recovered(rehearsal: Rehearsal, seen: Seen, secrets: Any) -> None:
    """Recover; what was on record still is, nothing is pending, the secrets are the same."""
    said = recover(rehearsal)
    assert "lock removed" in said
    assert all(name in said for name in seen.pending)
    after = look(rehearsal)
    assert after.recorded == seen.recorded
    assert not after.pending
    assert certificates(rehearsal) == secrets
    assert rehearsal.journal("violation") == []


def converged(rehearsal: Rehearsal, secrets: Any) -> bool:
    """Assert that the cluster is whole, was bootstrapped once, and has the secrets that were first on record."""
    assert secrets is None or certificates(rehearsal) == secrets
    assert [entry["machine"] for entry in rehearsal.journal("etcd-bootstrap")] == ["lab-controlplane-01"]
    assert rehearsal.journal("violation") == rehearsal.journal("defect") == []
    assert rehearsal.steps() == {}
    assert len(rehearsal.outputs(secrets=True)["kubeconfig"]) > 1000
    return True


def certificates(rehearsal: Rehearsal) -> Any:
    """Return the certificates of the machine secrets on record, which stand in the state in clear; None before."""
    for resource in state_of(rehearsal).get("resources") or []:
        if name_of(resource["urn"]) == SECRETS:
            certs = resource["outputs"]["machineSecrets"]["certs"]
            return {name: certs[name]["cert"] for name in ("etcd", "k8s", "k8sAggregator", "os")}
    return None


def recover_refused(rehearsal: Rehearsal) -> str:
    with pytest.raises(AssertionError) as refused:
        recover(rehearsal)
    return str(refused.value)
