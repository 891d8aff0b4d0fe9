"""Ending processes by their numbers, with the caution that numbers are used again."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path


def command_of(pid: int) -> str:
    """Return the command line of a process, empty when it is gone."""
    if Path("/proc/self").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    command = ["ps", "-o", "command=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def end(processes: Iterable[int]) -> None:
    """Ask processes to end, then make them."""
    left = list(processes)
    send(left, signal.SIGTERM)
    wait_until(lambda: not any(running(pid) for pid in left), within=3.0)
    send([pid for pid in left if running(pid)], signal.SIGKILL)


def send(processes: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to processes that may have ended."""
    for pid in processes:
        try:
            os.kill(pid, number)
        except OSError:  # ended meanwhile
            continue


def running(pid: int) -> bool:
    """Tell whether a process runs; an ended one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], within: float = 10.0) -> None:
    """Poll until ``condition`` holds or ``within`` seconds are over."""
    deadline = time.monotonic() + within
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
