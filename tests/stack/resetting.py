"""What an operator does to a machine with ``talosctl reset --reboot``, which is not there in every place of a test."""

import sys

from tests.stack.rehearsal import Rehearsal
from tests.waiting import eventually

RESET = """
import asyncio, sys
from pathlib import Path
from cli.running import talosconfig
from talosapi import Client

async def reset():
    async with Client(sys.argv[2], talosconfig(Path(sys.argv[1]))) as client:
        await client.reset(graceful=True, reboot=True)

asyncio.run(reset())
"""


def reset(rehearsal: Rehearsal, name: str) -> None:
    """Let a machine leave etcd and be wiped, and wait until it is in maintenance mode."""
    file = rehearsal.run.folder / "talosconfig"
    file.touch(mode=0o600)
    file.write_text(rehearsal.outputs(secrets=True)["talosconfig"])
    before = len(rehearsal.journal())
    rehearsal.command(sys.executable, "-c", RESET, str(file), rehearsal.node(name)["address"])

    def booted() -> bool:
        return any((entry["event"], entry["machine"]) == ("boot", name) for entry in rehearsal.journal()[before:])

    eventually(booted, within=60, what=f"{name} to boot again")
