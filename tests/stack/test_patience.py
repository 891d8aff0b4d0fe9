"""``rollout.timeout`` ends every wait, the provider's too. A long one says again and again what is waited for."""

import re

import pytest

from tests.stack.rehearsal import Rehearsal

pytestmark = pytest.mark.stack

WORKER, PLANE = "lab-worker-02", "lab-controlplane-02"
REBOOTS = "machine:\n  env:\n    CHANGE: '{number}'\n"


def test_a_machine_that_cannot_be_changed_is_given_up_in_time_and_changed_later(rehearsal: Rehearsal) -> None:
    rehearsal.topology["rollout"] = {"timeout": 35}
    rehearsal.save()
    rehearsal.start()
    rehearsal.fault(WORKER, "refuse")
    output = rehearsal.up(fails=True)
    assert re.search(rf"{WORKER} \(127[0-9.]+\): waited 3\d s for its machine API to answer", output), output
    assert re.search(rf"{WORKER} \(127[0-9.]+\): still waiting for its machine API .* after 3\d s", output)
    rehearsal.clear(WORKER, "refuse")
    rehearsal.up()
    rehearsal.fault(WORKER, "full-disk")
    rehearsal.patch("all/90-change.yaml", REBOOTS.format(number=1))
    output = rehearsal.up(fails=True)
    assert re.search(r"no space left on device.*\(gave up after 35 s\)", output, re.DOTALL), output
    assert re.search(rf"{WORKER} \(127[0-9.]+\): still waiting for the provider to change it after 3\d s", output)
    rehearsal.topology["rollout"] = {"timeout": 36}
    rehearsal.save()
    rehearsal.clear(WORKER, "full-disk")
    rehearsal.fault(PLANE, "drop", every=2)
    rehearsal.up()
    rehearsal.topology["rollout"] = {"timeout": 37}
    rehearsal.save()
    assert rehearsal.steps() == {}, "another timeout alone changes no resource"
    rehearsal.clear(PLANE, "drop")
    rehearsal.fault(PLANE, "clock-skew")
    rehearsal.patch("all/90-change.yaml", REBOOTS.format(number=2))
    output = rehearsal.up(fails=True)
    told = rf"{PLANE} .*it is valid from 20.* UTC on, and it is 20.* UTC here; fix its time: "
    assert re.search(told, output), output
    assert rehearsal.journal("violation") == []
