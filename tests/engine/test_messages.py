"""What is said where the engine finds no stack, with an engine that is a script."""

from pathlib import Path

import pytest

from engine import messages

NOT_LOGGED_IN = "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions"
NO_STACK = "error: no stack named 'mine' found"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine that fails with what is written in a file beside it."""
    script = tmp_path / "pulumi"
    script.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\n! cat {tmp_path}/fails >&2\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return script


@pytest.mark.parametrize("command", ["preview", "up"])
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (NOT_LOGGED_IN, "pulumi is not logged in: log in to the backend of mine with `pulumi login`"),
        (
            NO_STACK,
            "the stack mine has no state here: create it with `pulumi stack init mine`, or log in to its backend"
            " with `pulumi login`",
        ),
        ("error: the backend is on fire", ""),
    ],
)
def test_a_stack_that_is_not_found_is_said_with_what_to_do(engine: Path, command: str, said: str, reason: str) -> None:
    (engine.parent / "fails").write_text(said)
    assert messages.obstacle(engine, [command, "--stack", "mine"]) == reason
    assert (engine.parent / "arguments").read_text() == "stack --show-name --non-interactive --stack mine\n"


def test_other_commands_are_the_engines_own_business(engine: Path) -> None:
    for arguments in (["stack", "ls"], ["preview"], ["preview", "--stack"], ["up", "--stack", "mine", "--yes"]):
        assert messages.obstacle(engine, arguments) == ""
    assert not (engine.parent / "arguments").exists()


def test_an_engine_that_is_not_on_path_is_called_as_the_makefile_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert messages.explained(NOT_LOGGED_IN, "mine").endswith("with `.venv/bin/python -m engine login`")
