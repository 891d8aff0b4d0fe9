"""Taking a member out of etcd by hand, as a person does with talosctl."""

import sys

from tests.stack.rehearsal import Rehearsal

_SCRIPT = """
import asyncio, base64, sys
from pathlib import Path
import yaml
from talosapi import Client, Credentials
from talosapi.gen import machine_pb2

async def main(talosconfig, address, name):
    config = yaml.safe_load(Path(talosconfig).read_text())
    context = config["contexts"][config["context"]]
    credentials = Credentials(*(base64.b64decode(context[part]) for part in ("ca", "crt", "key")))
    async with Client(address, credentials) as client:
        member = next(member.id for member in await client.etcd_members() if member.hostname == name)
        await client._machine.EtcdRemoveMemberByID(machine_pb2.EtcdRemoveMemberByIDRequest(member_id=member))

asyncio.run(main(*sys.argv[1:]))
"""


def remove_member(rehearsal: Rehearsal, name: str, *, asked: str) -> None:
    """Remove the member of that name, asking the control plane at the address ``asked``."""
    talosconfig = rehearsal.project / "talosconfig"
    talosconfig.touch(mode=0o600)
    talosconfig.write_text(rehearsal.outputs(secrets=True)["talosconfig"])
    rehearsal.command(sys.executable, "-c", _SCRIPT, str(talosconfig), asked, name)
