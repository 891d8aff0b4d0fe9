"""The shared address of the control planes: the one that holds a leased key in etcd serves it."""

import asyncio
import contextlib
from typing import TYPE_CHECKING

from lab.machine.gateway import EtcdError

if TYPE_CHECKING:
    from lab.machine.kubeapi import KubeApi
    from lab.machine.session import Session

_LEASE = 10  # real seconds, as etcd keeps real time; Talos's own is longer
_BEAT = 0.5


class SharedAddress:
    """One control plane's part in the election for one address. Owns whether the address is held here."""

    def __init__(self, session: "Session", ip: str, kubeapi: "KubeApi") -> None:
        """Take part once ``run`` is started."""
        self.ip = ip
        self.held = False
        self._session = session
        self._kubeapi = kubeapi
        self._key = f"talos:v1:vip:election:{ip}"
        self._lease = ""
        self._stopped = False

    async def run(self) -> None:
        """Campaign, hold, lose, again; until stopped or cancelled."""
        while not self._stopped:
            try:
                await self._beat()
            except EtcdError:
                self.drop()
                self._lease = ""
            await asyncio.sleep(_BEAT)

    async def resign(self) -> None:
        """Give the address up so that another control plane has it at once."""
        self._stopped = True
        self.drop()
        if self._lease and self._session.etcd:
            with contextlib.suppress(EtcdError):
                await self._session.etcd.cluster().call("/v3/lease/revoke", {"ID": self._lease})

    def stop(self) -> None:
        """Take no further part."""
        self._stopped = True

    def drop(self) -> None:
        """Stop serving the address here."""
        if self.held:
            self.held = False
            self._kubeapi.release(self.ip)
            self._session.machine.record("vip-released", ip=self.ip)

    async def _beat(self) -> None:
        etcd = self._session.etcd
        if etcd is None or not etcd.healthy:
            return self.drop()
        gateway = etcd.local()
        if not self._lease:
            self._lease = str((await gateway.call("/v3/lease/grant", {"TTL": str(_LEASE)}))["ID"])
        alive = (await gateway.call("/v3/lease/keepalive", {"ID": self._lease})).get("result", {})
        if int(alive.get("TTL", 0)) <= 0:
            self._lease = ""
            return self.drop()
        holder = await gateway.claim(self._key, self._session.machine.hardware.uuid, self._lease)
        if self._stopped or holder != self._session.machine.hardware.uuid:
            return self.drop()
        if not self.held and await self._kubeapi.hold(self.ip):
            self.held = True
            self._session.machine.record("vip-taken", ip=self.ip)
        return None
