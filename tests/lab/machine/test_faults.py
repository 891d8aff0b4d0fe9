"""Faults are switched per machine, and wrong ones are refused with what there is."""

import math

import pytest

from lab.faults import FaultError, Faults


def test_a_fault_is_on_for_its_machine_only_until_it_is_cleared() -> None:
    faults = Faults()
    faults.set("a", "reboot-late", seconds=7)
    assert faults.on("a", "reboot-late") and not faults.on("b", "reboot-late")
    assert faults.value("a", "reboot-late", "seconds") == 7
    faults.clear("a")
    assert faults.active("a") == {}
    assert faults.value("a", "reboot-late", "seconds") == 0


def test_drop_loses_every_nth_call() -> None:
    faults = Faults()
    faults.set("a", "drop", every=3)
    assert [faults.drops("a") for _ in range(7)] == [False, False, True, False, False, True, False]
    assert not faults.drops("b")


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("explode", {}, "there is no fault 'explode'; the faults are clock-skew, delay, drop"),
        ("drop", {"evry": 3}, "drop does not take 'evry'; it takes every and answer"),
        ("refuse", {"seconds": 3}, "refuse does not take 'seconds'; it takes no argument"),
        ("refuse", {"machine": 3, "self": 1}, "refuse does not take 'machine'; it takes no argument; refuse does not"),
        (
            "delay",
            {"seconds": "long"},
            "seconds of delay is 'long'; it must be a number of simulated seconds",
        ),
        ("delay", {"seconds": -1}, "seconds of delay is -1; it must be a number of simulated seconds, 0 or more"),
        ("clock-skew", {"seconds": math.inf}, "seconds of clock-skew is inf; it must be a number of seconds"),
        ("drop", {"every": 0}, "every of drop is 0; it must be a whole number, 1 or more"),
        ("drop", {"every": math.nan}, "every of drop is nan; it must be a whole number, 1 or more"),
        (
            "drop",
            {"every": 1.5, "answer": 2},
            "every of drop is 1.5; it must be a whole number, 1 or more: every so many calls one is lost;"
            " answer of drop is 2; it must be 0, to lose a call before it is carried out, or 1, to lose the answer",
        ),
    ],
)
def test_a_wrong_fault_is_refused(name: str, args: dict[str, float], message: str) -> None:
    with pytest.raises(FaultError) as error:
        Faults().set("a", name, **args)
    assert message in str(error.value)


def test_a_fault_that_is_behind_the_clock_is_taken() -> None:
    faults = Faults()
    faults.set("a", "clock-skew", seconds=-5)
    assert faults.value("a", "clock-skew", "seconds") == -5


def test_a_fault_that_nobody_knows_cannot_be_switched_off() -> None:
    with pytest.raises(FaultError, match="there is no fault 'explode'; the faults are clock-skew"):
        Faults().clear("a", "explode")


def test_watchers_hear_of_every_switch() -> None:
    faults, heard = Faults(), []
    faults.watch(lambda *switch: heard.append(switch))
    faults.set("a", "refuse")
    faults.clear("a", "refuse")
    faults.clear("a", "refuse")
    assert heard == [("a", "refuse", True), ("a", "refuse", False)]
