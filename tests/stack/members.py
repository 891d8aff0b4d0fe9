"""What a person does with talosctl: takes a member out of etcd, lets a machine lose its data."""

import sys

from tests.stack.rehearsal import Rehearsal

_BEGIN = """
import asyncio, base64, sys
from pathlib import Path
import yaml
from grpclib.exceptions import GRPCError
from talosapi import Client, Credentials
from talosapi.gen import machine_pb2

async def main(talosconfig, address, name):
    config = yaml.safe_load(Path(talosconfig).read_text())
    context = config["contexts"][config["context"]]
    credentials = Credentials(*(base64.b64decode(context[part]) for part in ("ca", "crt", "key")))
    async with Client(address, credentials) as client:
"""
_REMOVE = """
        member = next(member.id for member in await client.etcd_members() if member.hostname == name)
        request = machine_pb2.EtcdRemoveMemberByIDRequest(member_id=member)
        while True:
            try:
                return await client._machine.EtcdRemoveMemberByID(request)
            except GRPCError as refused:
                # etcd refuses until it has been connected to every member for five seconds.
                if "unhealthy cluster" not in str(refused.message):
                    raise
            await asyncio.sleep(0.1)
"""
_RESET = """
        await client.reset(graceful=False, reboot=True, labels=("EPHEMERAL",))
"""
_END = """
asyncio.run(main(*sys.argv[1:]))
"""


def remove_member(rehearsal: Rehearsal, name: str, *, asked: str) -> None:
    """Remove the member of that name, asking the control plane at the address ``asked``."""
    _call(rehearsal, _REMOVE, asked, name)


def reset(rehearsal: Rehearsal, name: str) -> None:
    """Wipe the data of a machine, which keeps its configuration and joins again."""
    _call(rehearsal, _RESET, rehearsal.node(name)["address"], name)


def _call(rehearsal: Rehearsal, what: str, address: str, name: str) -> None:
    talosconfig = rehearsal.project / "talosconfig"
    talosconfig.touch(mode=0o600)
    talosconfig.write_text(rehearsal.outputs(secrets=True)["talosconfig"])
    rehearsal.command(sys.executable, "-c", _BEGIN + what + _END, str(talosconfig), address, name)
