"""A run that is interrupted from the keyboard: it ends by itself, and the next one goes on."""

import os
import signal

import pytest

from tests.stack.killing import left_behind, look, output_of, started
from tests.stack.rehearsal import Rehearsal
from tests.waiting import eventually

pytestmark = pytest.mark.stack

CHANGE = "machine:\n  env:\n    CHANGE: '1'\n"


def test_a_change_that_is_interrupted_leaves_the_rest_untouched_and_is_taken_up_again(rehearsal: Rehearsal) -> None:
    rehearsal.start()
    rehearsal.up()
    before = len(rehearsal.journal("configuration"))
    rehearsal.patch("all/90-change.yaml", CHANGE)
    with started(rehearsal) as up:
        eventually(lambda: len(rehearsal.journal("configuration")) > before, within=120, what="a first change")
        os.killpg(up.pid, signal.SIGINT)
        assert up.wait(120) != 0
    said = output_of(rehearsal).read_text()
    assert "Traceback" not in said, said
    assert len(rehearsal.journal("configuration")) == before + 1
    eventually(lambda: not left_behind(rehearsal), within=20, what="the end of what the run had started")
    assert not look(rehearsal).pending
    rehearsal.up()
    assert len(rehearsal.journal("configuration")) == before + 5
    assert rehearsal.steps() == {} and rehearsal.journal("violation") == []
