"""The etcd service of one control plane: waits, bootstraps or joins, votes, leaves."""

import asyncio
import contextlib
import ssl
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.machine.etcd_process import EtcdProcess, peer_url
from lab.machine.gateway import EtcdError, Gateway
from lab.machine.pki import client_context

if TYPE_CHECKING:
    from lab.machine.session import Session

# Simulated seconds between Talos's attempts; real etcd is asked no more often than every _POLL real seconds.
_JOIN = 3.0
_PROMOTE = 15.0
_RESTART = 5.0
_HEALTH = 20.0
_POLL = 0.2
_LEAVE_ATTEMPTS = 30


class Etcd:
    """The service while the machine runs. Owns the child process and this machine's place in the cluster."""

    def __init__(self, session: "Session") -> None:
        """Prepare; ``run`` does the work."""
        self._session = session
        self._machine = session.machine
        self._world = session.machine.world
        self.process = EtcdProcess(self._world.etcd, session.machine.directory)
        self.state, self.message, self.healthy = "Waiting", 'Waiting for service "cri" to be "up"', False
        self._bootstrap = asyncio.Event()
        self._recover = self._unchecked = self._left = False
        self._context: ssl.SSLContext | None = None
        self._learner = 0
        self._up = False

    @property
    def member(self) -> int:
        """This machine's member id, 0 while it has none."""
        return self._machine.member

    def local(self) -> Gateway:
        """This member alone; raises EtcdError when it does not run."""
        return self._gateway([self._session.address])

    def cluster(self) -> Gateway:
        """Every control plane's member, this one first."""
        others = [host for host in self._others() if host != self._session.address]
        return self._gateway([self._session.address, *others] if self.process.alive else others)

    def at(self, hosts: Sequence[str]) -> Gateway:
        """The members at these hosts, the first that answers counts."""
        return self._gateway(hosts)

    @property
    def bootstrapping(self) -> bool:
        """Whether a bootstrap was asked for in this boot."""
        return self._bootstrap.is_set()

    def bootstrap(self, *, recover: bool = False, unchecked: bool = False) -> None:
        """Start a new cluster here, from the snapshot if that is wanted; the caller has checked that there is no data.

        ``unchecked`` takes a snapshot without a hash.
        """
        self._recover, self._unchecked = recover, unchecked
        self._bootstrap.set()

    async def run(self) -> None:
        """Bring the member up and keep it up, until cancelled."""
        while self._machine.fault("clock-skew"):
            self.message = "Waiting for time sync"
            await self._world.clock.sleep(_JOIN, at_least=_POLL)
        self.state, self.message = "Preparing", "Running pre state"
        pair = self.process.write_certificates(
            self._session.settings.etcd_ca, self._session.hostname, self._session.address
        )
        self._context = client_context(self._session.settings.etcd_ca.crt, pair)
        initial = {} if self.process.has_data else await self._initial()
        while True:
            await self.process.start(self._session.hostname, self._session.address, initial)
            self.state, self.message = "Running", "Started task etcd"
            watch = asyncio.gather(self._watch_health(), self._promote())
            try:
                code = await self.process.wait()
            finally:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)
                self._down("stopped")
            if self._left:
                return
            self.state, self.message = "Waiting", f"Error running etcd, going to restart forever: exit code {code}"
            await self._world.clock.sleep(_RESTART, at_least=1.0)
            initial = {}

    async def stop(self, *, cut: bool) -> None:
        """End the child: politely, or as a power cut does."""
        await (self.process.kill() if cut else self.process.stop())
        self._down("power" if cut else "stopped")
        self.state, self.message = "Finished", "Service finished successfully"

    async def leave(self) -> None:
        """Leave the cluster, stop and lose the data; raises EtcdError when the others do not let it go."""
        if self.member:
            await self._be_removed()
        self._left = True
        await self.stop(cut=False)
        self.process.wipe()
        self._machine.member = 0
        if self._session.kubeapi:
            self._session.kubeapi.close()  # it knows no other member than the one that was here

    async def _be_removed(self) -> None:
        for left in reversed(range(_LEAVE_ATTEMPTS)):
            try:
                await self._remove(self.cluster(), self.member)
                return
            except EtcdError as error:
                if "member not found" in str(error):
                    return
                if not left or not any(word in str(error) for word in ("unhealthy cluster", "server stopped")):
                    raise
            await asyncio.sleep(1.0)  # etcd wants every member connected for five real seconds

    async def remove(self, member: int) -> None:
        """Take any member out of the cluster; raises EtcdError."""
        await self._remove(self.cluster(), member)

    def _others(self) -> list[str]:
        peers = self._world.control_planes(self._session.settings)
        sessions = [peer.session for peer in peers if peer.session and peer.session is not self._session]
        return [session.address for session in sessions if session.etcd and session.etcd.process.alive]

    def _gateway(self, hosts: Sequence[str]) -> Gateway:
        if not self._context or not hosts:
            raise EtcdError("etcd does not run")
        return Gateway(hosts, self._context)

    async def _initial(self) -> dict[str, str]:
        """Join or, once that is asked for, make a cluster; returns what etcd is told about that."""
        while True:
            if self._bootstrap.is_set() and (made := await self._make()) is not None:
                return made
            with contextlib.suppress(EtcdError):
                members = await self._join()
                return {"initial-cluster": ",".join(members), "initial-cluster-state": "existing"}
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._bootstrap.wait(), self._world.clock.real(_JOIN, at_least=_POLL))

    async def _make(self) -> dict[str, str] | None:
        session, cluster = self._session, self._session.settings.cluster_key
        if self._recover:
            where = (self._world.etcdutl, self._machine.snapshot, session.hostname, session.address)
            if why := await self.process.restore(*where, unchecked=self._unchecked):
                self.message = f"failed to restore the snapshot: {why}"
                self._machine.record("etcd-restore-failed", why=why)
                self._bootstrap.clear()
                return None
            self._machine.snapshot.unlink()
            self._machine.record("etcd-restored", cluster=cluster)
            return {}
        self._machine.record("etcd-bootstrap", cluster=cluster)
        own = f"{session.hostname}={peer_url(session.address)}"
        return {"initial-cluster": own, "initial-cluster-state": "new"}

    async def _join(self) -> list[str]:
        gateway = self._gateway(self._others())
        for member in await gateway.members():
            if member.name == self._session.hostname:
                await self._remove(gateway, member.id)
        self._learner = await gateway.add_learner(peer_url(self._session.address))
        self._note_member(self._learner)
        self._machine.record("etcd-member-added", member=f"{self._learner:016x}", learner=True)
        names = {member.id: member.name for member in await gateway.members()} | {self._learner: self._session.hostname}
        return [f"{names[member.id]}={url}" for member in await gateway.members() for url in member.peer_urls]

    async def _promote(self) -> None:
        while True:
            await self._world.clock.sleep(_PROMOTE, at_least=_POLL)
            for host in self._others() if self._learner else ():
                with contextlib.suppress(EtcdError):
                    await self._gateway([host]).promote(self._learner)
                    self._learner = 0
                    self._note_up()
                    self._machine.record("etcd-voting", cluster=self._session.settings.cluster_key)
                    break

    async def _watch_health(self) -> None:
        while True:
            with contextlib.suppress(EtcdError):
                status = await self.local().status()
                self._note_member(int(status["header"]["member_id"]))
                self._note_up()
                if status.get("isLearner"):  # also one that was cut off before it could vote
                    self._learner = self.member
                self.healthy = await self.local().healthy()
                self.message = "Health check successful" if self.healthy else "etcdserver: no leader"
            await self._world.clock.sleep(_HEALTH if self.healthy else 1.0, at_least=_POLL if not self.healthy else 1.0)

    def _note_member(self, member: int) -> None:
        self._machine.member = member
        self._world.members[member] = self._machine.name

    def _note_up(self) -> None:
        if not self._up:
            self._up = True
            self._machine.record("etcd-up", cluster=self._session.settings.cluster_key)

    def _down(self, why: str) -> None:
        if self._up:
            self._machine.record("etcd-down", cluster=self._session.settings.cluster_key, why=why)
        self._up = self.healthy = False

    async def _remove(self, gateway: Gateway, member: int) -> None:
        await gateway.remove(member)
        name = self._world.members.get(member, "")
        self._machine.record("etcd-left", cluster=self._session.settings.cluster_key, member=name, id=f"{member:016x}")
