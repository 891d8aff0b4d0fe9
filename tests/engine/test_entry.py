"""Every command ends in one sentence or none, whoever ends it: never in a traceback."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine import ROOT, entry

COMMANDS = {
    "talos-stacks": ["-m", "cli", "check", "--rules"],
    "engine": ["-m", "engine", "recover", "--help"],
    "lab": ["-m", "lab", "--help"],
}
SLOW = {"talos-stacks": "jinja2", "engine": "mmap", "lab": "ruamel"}
"""A module that each of them imports."""


def python(*arguments: str, prefix: str = "") -> "subprocess.CompletedProcess[str]":
    """Run the interpreter from a shell, so that its streams can be closed."""
    shell = f'set -o pipefail; "$0" "$@" {prefix}'
    command = ["bash", "-c", shell, sys.executable, *arguments]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(command, cwd=ROOT, env=buffered, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_while_modules_are_loaded_ends_it_quietly(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{SLOW[name]}.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ended = subprocess.run([sys.executable, *COMMANDS[name]], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_goes_away_is_not_told_of_it(name: str) -> None:
    ended = python(*COMMANDS[name], prefix="| true")
    assert ended.stderr == ""
    assert ended.returncode in (0, 1)  # it may have ended before its reader


@pytest.mark.parametrize("name", COMMANDS)
def test_a_closed_output_is_said_before_anything_is_done(name: str) -> None:
    ended = python(*COMMANDS[name], prefix=">&-")
    assert (ended.returncode, ended.stderr) == (1, "standard output is closed: nothing was done\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("name", COMMANDS)
def test_an_output_that_is_full_is_said(name: str) -> None:
    ended = python(*COMMANDS[name], prefix="> /dev/full")
    assert ended.returncode == 1
    assert ended.stderr.removeprefix("error: ") == "No space left on device\n"


def test_it_does_without_a_place_for_errors() -> None:
    ended = python(*COMMANDS["talos-stacks"], prefix="2>&-")
    assert ended.returncode == 0 and ended.stdout


def test_an_interrupt_at_work_ends_with_the_code_of_shells() -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    assert entry.run(lambda: interrupted) == 130


def test_an_error_of_the_system_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def failing() -> int:
        Path("/proc/self/nothing").read_text()
        return 0

    assert entry.run(lambda: failing) == 1
    assert capsys.readouterr().err == "/proc/self/nothing: No such file or directory\n"
