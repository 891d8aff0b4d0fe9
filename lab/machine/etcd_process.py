"""The real etcd as a child process: its certificates, its arguments, its end."""

import asyncio
import contextlib
import ctypes
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from lab.machine.gateway import CLIENT_PORT, PEER_PORT
from lab.machine.pki import CLIENT, SERVER, Authority, Pair

_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None  # loaded here: between fork and exec nothing may be
_GRACE = 10.0  # real seconds between the polite and the rude end


def peer_url(address: str) -> str:
    """Where other members reach this one."""
    return f"https://{address}:{PEER_PORT}"


def client_url(address: str) -> str:
    """Where clients reach this member."""
    return f"https://{address}:{CLIENT_PORT}"


class EtcdProcess:
    """One etcd child. Owns its data directory (survives reboots) and its PKI directory (gone when it stops)."""

    def __init__(self, program: Path, directory: Path) -> None:
        """Remember where; nothing is made yet."""
        self._program = program
        self._log = directory / "etcd.log"
        self.data = directory / "etcd"
        self.pki = directory / "etcd-pki"
        self._process: asyncio.subprocess.Process | None = None

    @property
    def has_data(self) -> bool:
        """Whether a member was made here before."""
        return self.data.is_dir() and any(self.data.iterdir())

    @property
    def alive(self) -> bool:
        """Whether the child runs."""
        return self._process is not None and self._process.returncode is None

    def wipe(self) -> None:
        """Lose the data directory."""
        shutil.rmtree(self.data, ignore_errors=True)

    def write_certificates(self, authority: Authority, name: str, address: str) -> Pair:
        """Write the certificates Talos makes for etcd; returns the one of its own client.

        The certificate shown to other members has no address in it: on a loopback every caller may have any of them.
        """
        shutil.rmtree(self.pki, ignore_errors=True)
        self.pki.mkdir(parents=True, mode=0o700)
        hosts = [name, "localhost", address, "127.0.0.1"]
        server = authority.issue(name, [SERVER, CLIENT], hosts=hosts)
        client = authority.issue("talos", [CLIENT])
        for file, data in (
            ("ca.crt", authority.crt),
            *(("server.crt", server.crt), ("server.key", server.key)),
            *(("client.crt", client.crt), ("client.key", client.key)),
        ):
            (self.pki / file).touch(mode=0o600)
            (self.pki / file).write_bytes(data)
        return client

    async def restore(self, program: Path, snapshot: Path, name: str, address: str, *, unchecked: bool) -> str:
        """Make the data directory of a new cluster from a snapshot; returns why not, empty when it is there.

        ``unchecked`` takes a file without the hash at its end: a database that was copied.
        """
        self.wipe()
        options = {"name": name, "data-dir": str(self.data), "initial-advertise-peer-urls": peer_url(address)}
        options |= {"initial-cluster": f"{name}={peer_url(address)}", "skip-hash-check": str(unchecked).lower()}
        process = await asyncio.create_subprocess_exec(
            *(str(program), "snapshot", "restore", str(snapshot)),
            *(f"--{key}={value}" for key, value in options.items()),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, said = await process.communicate()
        if process.returncode == 0:
            return ""
        self.wipe()
        return (said.decode(errors="replace").strip().splitlines() or ["etcdutl failed"])[-1]

    async def start(self, name: str, address: str, initial: Mapping[str, str]) -> None:
        """Start the child; ``initial`` are its arguments for a new or joined cluster, empty with data."""
        self.data.mkdir(parents=True, mode=0o700, exist_ok=True)
        options = {
            "name": name,
            "data-dir": str(self.data),
            "listen-peer-urls": peer_url(address),
            "initial-advertise-peer-urls": peer_url(address),
            "listen-client-urls": client_url(address),
            "advertise-client-urls": client_url(address),
            "client-cert-auth": "true",
            "peer-client-cert-auth": "true",
            "cert-file": str(self.pki / "server.crt"),
            "key-file": str(self.pki / "server.key"),
            "trusted-ca-file": str(self.pki / "ca.crt"),
            "peer-cert-file": str(self.pki / "server.crt"),
            "peer-key-file": str(self.pki / "server.key"),
            "peer-client-cert-file": str(self.pki / "client.crt"),
            "peer-client-key-file": str(self.pki / "client.key"),
            "peer-trusted-ca-file": str(self.pki / "ca.crt"),
            "unsafe-no-fsync": "true",  # a laptop's disk is slow, and the data need not outlive the laptop's crash
            "log-level": "warn",
            **initial,
        }
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                str(self._program),
                *(f"--{key}={value}" for key, value in options.items()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )

    async def wait(self) -> int:
        """Wait for the child to end by itself; returns its exit code."""
        return await self._process.wait() if self._process else 0

    async def stop(self) -> None:
        """End it politely (the leader hands over), rudely after a while; its keys go too."""
        if self._process and self.alive:
            self._process.terminate()
            try:
                await asyncio.wait_for(asyncio.shield(self._process.wait()), _GRACE)
            except TimeoutError:
                await self.kill()
        shutil.rmtree(self.pki, ignore_errors=True)

    async def kill(self) -> None:
        """End it as a lost power supply does."""
        if self._process and self.alive:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGKILL)
            await self._process.wait()
        shutil.rmtree(self.pki, ignore_errors=True)


def _die_with_parent() -> None:
    assert _LIBC  # noqa: S101 - Linux only
    _LIBC.prctl(_PDEATHSIG, signal.SIGKILL)
