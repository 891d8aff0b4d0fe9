"""A client identity of Talos's API for one role and a short time, and what can be told of it without its key."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256

from machinery.pki import client_certificate
from machinery.secrets import KeyPair

ROLES = ("os:admin", "os:operator", "os:reader", "os:etcd:backup")
BACKDATED = timedelta(minutes=5)
"""How long before now a certificate is valid already, for machines whose clocks are behind."""


@dataclass(frozen=True)
class Identity:
    """A certificate with its key."""

    pair: KeyPair = field(repr=False)
    serial: str
    """In hexadecimal."""
    fingerprint: str
    """SHA-256 of the certificate, in hexadecimal."""
    until: datetime


def identity(ca: KeyPair, role: str, lifetime: timedelta, now: datetime | None = None) -> Identity:
    """Return an identity signed by the machines' CA, as Talos makes them: the role is its organization.

    Raises ValueError, without a secret, when the CA is none or ends before the identity would.
    """
    moment = (now or datetime.now(UTC)).replace(microsecond=0)
    try:
        ends = x509.load_pem_x509_certificate(ca.crt.encode()).not_valid_after_utc
        pair = client_certificate(ca, role, lifetime=BACKDATED + lifetime, now=moment - BACKDATED)
        made = x509.load_pem_x509_certificate(pair.crt.encode())
    except ValueError:
        raise ValueError("the CA of the machines cannot be read") from None
    if made.not_valid_after_utc > ends:
        raise ValueError(f"the CA of the machines ends on {ends:%Y-%m-%d}, before this certificate would")
    return Identity(pair, f"{made.serial_number:x}", made.fingerprint(SHA256()).hex(), made.not_valid_after_utc)
