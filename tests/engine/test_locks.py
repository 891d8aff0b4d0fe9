"""Locks between processes."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine import ROOT
from engine.locks import hold
from tests.waiting import eventually

HOLD = """
import sys
from pathlib import Path
from engine.locks import hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def holder(path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that holds the lock until it reads a line."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def release(process: "subprocess.Popen[str]") -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def test_a_second_one_says_that_it_waits_and_gets_its_turn(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lock"
    with holder(path) as first, hold(path, lambda: release(first)):
        assert first.wait(timeout=10) == 0
        assert path.exists(), "the lock file that is held is the one that others find"
    assert not path.exists()


def test_a_killed_holder_releases_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as killed:
        killed.kill()
        eventually(lambda: killed.poll() is not None, what="the holder to end")
    assert path.exists()
    with hold(path, lambda: refuse("nobody holds it")):
        pass
    assert not path.exists()


def test_many_in_turn_never_overlap(tmp_path: Path) -> None:
    text = """
import os, sys
from pathlib import Path
from engine.locks import hold
for _ in range(50):
    with hold(Path(sys.argv[1])):
        os.close(os.open(sys.argv[2], os.O_CREAT | os.O_EXCL))
        os.unlink(sys.argv[2])
"""
    command = [sys.executable, "-c", text, str(tmp_path / "lock"), str(tmp_path / "there")]
    runs = [subprocess.Popen(command, cwd=ROOT) for _ in range(4)]
    assert [run.wait(timeout=60) for run in runs] == [0, 0, 0, 0]
    assert list(tmp_path.iterdir()) == []


def refuse(why: str) -> None:
    raise AssertionError(why)
