"""Faults are switched per machine, and wrong ones are refused with what there is."""

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
        ("explode", {}, "no fault is called 'explode'; there are clock-skew, delay, drop"),
        ("drop", {"evry": 3}, "fault 'drop' does not take 'evry'; it takes answer, every"),
        ("refuse", {"seconds": 3}, "fault 'refuse' does not take 'seconds'; it takes no argument"),
        ("delay", {"seconds": "long"}, "fault 'delay' needs a number for 'seconds', not 'long'"),
        ("drop", {"every": 0}, "fault 'drop' needs every=1 or more"),
    ],
)
def test_a_wrong_fault_is_refused(name: str, args: dict[str, float], message: str) -> None:
    with pytest.raises(FaultError) as error:
        Faults().set("a", name, **args)
    assert message in str(error.value)


def test_watchers_hear_of_every_switch() -> None:
    faults, heard = Faults(), []
    faults.watch(lambda *switch: heard.append(switch))
    faults.set("a", "refuse")
    faults.clear("a", "refuse")
    faults.clear("a", "refuse")
    assert heard == [("a", "refuse", True), ("a", "refuse", False)]
