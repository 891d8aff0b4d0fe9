"""When a machine may change: the health gates between the steps of an update.

The gates are resource hooks, which run in the program's own process and never at preview. A gate stands before each
change as well as after it: a change whose gate failed afterwards is recorded as done, so the next run finds the
machine still down before it touches another one.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pulumi

from talosapi import Credentials, health
from topology import Node, Topology

Hook = Callable[[pulumi.ResourceHookArgs], Awaitable[None]]


class Rollout:
    """Lets control planes change one at a time and workers in batches, each only while the others are healthy.

    A machine that gets its first configuration before the cluster lives waits for nobody. Once one control plane runs
    etcd, the cluster lives: then every change and every new machine takes its turn, control planes before workers.
    """

    def __init__(self, topology: Topology, credentials: pulumi.Output[Credentials]) -> None:
        """Plan nothing yet; ``credentials`` is the os:admin identity."""
        self._topology = topology
        self._credentials = credentials
        self._turns = {
            "controlplane": asyncio.Semaphore(1),
            "worker": asyncio.Semaphore(topology.rollout.workers_at_once),
        }
        self._changing: set[str] = set()
        self._stopped_by: str | None = None
        self._control_planes: list[pulumi.Resource] = []
        self._living: asyncio.Task[bool] | None = None
