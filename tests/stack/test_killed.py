"""A run that is killed: after any step, the next run converges."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stack.rehearsal import CHECKOUT, Rehearsal

pytestmark = pytest.mark.stack


def kill_after(rehearsal: Rehearsal, steps: int) -> bool:
    """Run ``pulumi up`` and kill the engine after that many finished steps; False when it ended before."""
    log = rehearsal.run.folder / f"events-{steps}.json"
    log.unlink(missing_ok=True)
    up = "pulumi up --yes --skip-preview --non-interactive"
    command = ["--", "sh", "-c", f"PULUMI_ENABLE_EVENT_LOG_STREAMING=true exec {up} --event-log {log}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "lab", "--project", str(rehearsal.project), "run", rehearsal.stack, *command],
        cwd=CHECKOUT,
        env=os.environ | {"LAB_HOME": str(rehearsal.run.home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while process.poll() is None:
            if finished(log) >= steps:
                kill_engine(log)
                process.wait(60)
                return True
        return False
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def finished(log: Path) -> int:
    if not log.exists():
        return 0
    done = 0
    for line in log.read_text(errors="replace").splitlines():
        try:
            done += "resOutputsEvent" in json.loads(line)
        except ValueError:
            continue
    return done


def kill_engine(log: Path) -> None:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                arguments = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if str(log).encode() in arguments:
                os.kill(int(entry.name), signal.SIGKILL)
