"""The world of one run: machines, the Image Factory and the control socket, in one process that ends with the lab.

``python -m lab.world STACK`` is started by ``lab up``, never by hand. What it was asked to be stands in the run's
``run.json``; it adds ``ready`` when everything listens.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lab import namespace
from lab.run import Run
from lab.stackfile import FACTORY_ADDRESS, StackError, StackFile, read

if TYPE_CHECKING:
    from lab.registry import Registry


def hosts_file(stack: StackFile) -> str:
    """Return what /etc/hosts says inside: this machine, the Image Factory and the stack's own names."""
    lines = ["127.0.0.1 localhost", "::1 localhost", f"127.0.1.1 {socket.gethostname()}"]
    lines += [f"{address} {host}" for host, addresses in stack.names().items() for address in addresses]
    return "\n".join(lines) + "\n"


def seal(run: Run, stack: StackFile) -> None:
    """Move this process into a sealed namespace in which the stack's names lead where the lab wants them."""
    run.hosts.write_text(hosts_file(stack))
    order = run.folder / "nsswitch.conf"
    order.write_text("passwd: files\ngroup: files\nhosts: files\n")
    resolver = run.folder / "resolv.conf"
    resolver.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    targets = {"/etc/hosts": run.hosts, "/etc/nsswitch.conf": order, "/etc/resolv.conf": resolver}
    namespace.seal({Path(target): source for target, source in targets.items()})


def start_factory(run: Run, stack: StackFile, record: Any, registry: "Registry", sealed: bool) -> str | None:
    """Listen where the stack's Image Factory URL leads; return the URL, or None where that is not possible."""
    from lab.authority import issue
    from lab.factory import Factory, serve

    url = urlsplit(stack.factory)
    host = url.hostname or ""
    _, certificate = issue(run.folder, host)
    literal = host.replace(".", "").isdigit()
    if not sealed and not literal:
        return None
    secure = url.scheme != "http"
    where = host if literal else FACTORY_ADDRESS
    serve(Factory(record, registry), where, stack.factory_port, certificate if secure else None)
    return stack.factory


async def live(run: Run, stack: StackFile, settings: dict[str, Any]) -> None:
    """Be the world until someone asks it to end."""
    from lab.loadbalancer import balance
    from lab.server import World, listen

    world = World(run, Path(settings["etcd"]), Path(settings["etcdutl"]), float(settings["speed"]))
    loop = asyncio.get_running_loop()

    def record(event: str, **fields: Any) -> None:
        loop.call_soon_threadsafe(partial(world.journal.record, event, "image factory", **fields))

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, world.over.set)
    try:
        world.factory = start_factory(run, stack, record, world.registry, bool(settings["sealed"]))
        world.registry.complete = world.factory is not None
        balancer = await balance(stack)
        server = await listen(world, run.socket)
        for hardware in stack.hardware():
            await world.create(hardware)
        run.save(ready=True)
        await world.over.wait()
        server.close()
        balancer.close()
    finally:
        await world.end()


def main(arguments: list[str]) -> int:
    """Seal the network first, while this process has one thread; then live."""
    run = Run(arguments[0])
    settings = run.settings()
    os.umask(0o077)
    try:
        stack = read(run.stack, Path(settings["root"]))
        if settings["sealed"]:
            seal(run, stack)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(live(run, stack, settings))
    except (StackError, namespace.NamespaceError, OSError) as error:
        sys.stderr.write(f"the lab's world cannot start: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
