"""Running a command inside a lab, as if it had been typed there."""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator

from engine import ROOT
from lab.errors import LabError
from lab.run import Run


def execute(run: Run, command: list[str]) -> int:
    """Run ``command`` inside and return its exit code."""
    settings = run.settings()
    if settings.get("sealed"):
        command = [sys.executable, str(ROOT / "lab" / "enter.py"), str(settings["pid"]), *command]
    try:
        process = subprocess.Popen(command, env=run.environment())
    except OSError as error:
        raise LabError(f"{command[0]}: {error.strerror}") from error
    with signals_left_to(process):
        process.wait()
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


@contextlib.contextmanager
def signals_left_to(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Let ``process`` decide what an interrupt means (the terminal sends it to both); pass a request to end on."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: process.terminate()),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
