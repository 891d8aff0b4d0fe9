"""The clocks of a machine and of this computer, for when a certificate is not valid or time is not synchronised."""

import asyncio
import contextlib
import ssl
from datetime import UTC, datetime

from cryptography import x509

from talosapi import tls
from talosapi.client import Client
from talosapi.errors import TalosError
from talosapi.fleet import Fleet, Machine

CURE = "fix its time: its hardware clock must be about right and it must reach its time servers, see machine.time"


def told(machine: datetime | None) -> str:
    """Say what both clocks show; the machine's where it is known."""
    here = f"{_text(datetime.now(UTC))} here"
    return f"its clock says {_text(machine)}, and it is {here}" if machine else f"it is {here}"


async def of_machine(client: Client) -> datetime | None:
    """Return the machine's time, None when it does not tell: Linux keeps the moment of the boot and the time since."""
    try:
        stat, uptime = await client.read("/proc/stat"), await client.read("/proc/uptime")
        booted = next(line.split()[1] for line in stat.splitlines() if line.startswith(b"btime "))
        return datetime.fromtimestamp(int(booted) + float(uptime.split()[0]), UTC)
    except (TalosError, StopIteration, ValueError, IndexError, OverflowError, OSError):
        return None


async def of_certificate(fleet: Fleet, machine: Machine) -> str | None:
    """Say when a machine's certificate is valid if that is not now; it made it itself, by its own clock."""
    certificate = await _certificate(str(machine.address), fleet.ports.talos, fleet.call_timeout)
    now = datetime.now(UTC)
    if certificate and certificate.not_valid_before_utc > now:
        return f"it is valid from {_text(certificate.not_valid_before_utc)} on, and it is {_text(now)} here"
    if certificate and certificate.not_valid_after_utc < now:
        return f"it was valid until {_text(certificate.not_valid_after_utc)}, and it is {_text(now)} here"
    return None


async def _certificate(address: str, port: int, timeout: float) -> x509.Certificate | None:
    with contextlib.suppress(OSError, ValueError, TimeoutError):
        async with asyncio.timeout(timeout):
            _, writer = await asyncio.open_connection(address, port, ssl=tls.insecure_context())
        connection: ssl.SSLObject = writer.get_extra_info("ssl_object")
        shown = connection.getpeercert(binary_form=True)
        writer.close()
        return x509.load_der_x509_certificate(shown) if shown else None
    return None


def _text(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"
