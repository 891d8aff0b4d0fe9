import subprocess
import sys
from pathlib import Path

import pytest

from cli.main import COMMANDS
from tests.cli.conftest import ROOT, Run


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_and_exit_codes(name: str, run: Run) -> None:
    code, out, _ = run(name, "--help")
    assert code == 0
    assert "examples:" in out and f"talos-stacks {name}" in out and "exit codes:" in out


def test_the_table_of_commands_is_in_the_help(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert all(f"    {name} " in out for name in COMMANDS) and "exit codes:" in out


@pytest.mark.parametrize(
    "arguments", [(), ("nothing",), ("render", "--colour"), ("explain", "a"), ("render", "--st", "lab")]
)
def test_wrong_arguments_end_with_1_and_say_where_help_is(arguments: tuple[str, ...], run: Run) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1 and "--help" in err


def test_a_command_after_its_options_is_shown_at_its_place(run: Run) -> None:
    said = "talos-stacks: options follow the command: `talos-stacks check --stack mine`; `talos-stacks --help`"
    for arguments in (("--stack", "mine", "check"), ("--stack=mine", "check")):
        code, out, err = run(*arguments)
        assert (code, out) == (1, "") and err.replace("--stack=mine", "--stack mine").startswith(said)


def test_a_stack_that_is_not_there_is_named_with_those_that_are(run: Run, checkout: Path) -> None:
    code, _, err = run("render", "--stack", "nowhere")
    assert (code, err) == (1, f"error: there is no stack nowhere in {checkout}; there are: lab\n")


def test_an_unexpected_error_shows_its_kind_and_place_and_not_its_text(
    run: Run, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("hunter2")

    monkeypatch.setattr("cli.render.prepare", fail)
    code, out, err = run("render")
    assert (code, out) == (1, "")
    assert err.startswith("error: an internal error: ValueError in test_main.py line ") and "hunter2" not in err


def test_colour_is_for_terminals_alone(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")
    command = [sys.executable, "-m", "cli", "explain", "lab-worker-01", "version"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == "version = v1alpha1\n  set by Talos defaults for worker, contract v1.13\n"


def test_a_reader_that_goes_away_is_no_fault(checkout: Path) -> None:
    command = f"{sys.executable} -m cli explain lab-worker-01 machine | true"
    ended = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "Traceback" not in ended.stderr and "BrokenPipe" not in ended.stderr


def test_the_console_script_is_the_same_command() -> None:
    script = Path(sys.executable).with_name("talos-stacks")
    texts = [
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for command in ([str(script), "--help"], [sys.executable, "-m", "cli", "--help"])
    ]
    assert texts[0] == texts[1] and "usage: talos-stacks" in texts[0]


@pytest.mark.parametrize("arguments", [("--stack", "lab", "--stack", "lab"), ("--stack", ""), ("--stack=",)])
@pytest.mark.parametrize("name", ["check", "render", "diff", "access", "draw"])
def test_one_stack_or_none_is_named(name: str, arguments: tuple[str, ...], run: Run, checkout: Path) -> None:
    code, out, err = run(name, *arguments)
    assert (code, out) == (1, "") and "--stack" in err and err.count("\n") == 1


def test_every_command_has_its_part_of_the_documentation() -> None:
    parts = {line.removeprefix("## ") for line in (ROOT / "docs/commands.md").read_text().splitlines()}
    assert set(COMMANDS) <= parts
