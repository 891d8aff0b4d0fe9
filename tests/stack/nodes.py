"""``nodes.py KUBECONFIG``: print what an upgrade left on each Node of a cluster, as JSON; run inside a lab."""

import asyncio
import json
import sys
from pathlib import Path

from kubeapi import Client, nodes
from talosapi.kubernetes import Identity


async def left() -> dict[str, list[str]]:
    """Return by Node the cordon and the annotations of this project."""
    kubeconfig = Path(sys.argv[1]).read_text()
    url = next(line.split()[-1] for line in kubeconfig.splitlines() if line.strip().startswith("server:"))
    async with Client(url, Identity.of(kubeconfig).context()) as client:
        return {
            node.name: [
                *(["unschedulable"] if node.unschedulable else []),
                *(key for key in node.annotations if key.startswith("talos-stacks.dev/")),
            ]
            for node in await nodes.nodes(client)
        }


sys.stdout.write(json.dumps(asyncio.run(left())))
