import pulumi
import pytest

from components.sdk import VARIABLE, leave_out_debug_lines


@pytest.mark.parametrize(("asked_for", "kept"), [("", False), ("1", True)])
def test_debug_lines_are_sent_where_somebody_asks(monkeypatch: pytest.MonkeyPatch, asked_for: str, kept: bool) -> None:
    monkeypatch.setattr(pulumi.log, "debug", debug := pulumi.log.debug)  # put back at the end
    monkeypatch.setenv(VARIABLE, asked_for)
    leave_out_debug_lines()
    assert (pulumi.log.debug is debug) is kept
