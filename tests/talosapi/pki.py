"""Certificates as Talos makes them: Ed25519, keys under Talos's own PEM header."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key as PEM."""

    crt: bytes
    key: bytes


class Authority:
    """A CA that signs for addresses and for people."""

    def __init__(self, name: str = "talos") -> None:
        self._key = Ed25519PrivateKey.generate()
        self._name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, name)])
        builder = _builder(self._name, self._name, self._key)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self._certificate = builder.sign(self._key, None)
        self.pem = self._certificate.public_bytes(Encoding.PEM)
        self.key_pem = talos_key(self._key)

    def server(self, *addresses: str, age: datetime.timedelta = datetime.timedelta()) -> Pair:
        """Return the certificate of a machine with these addresses, made ``age`` ago for two days."""
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address)) for address in addresses])
        return self._pair("machine", names, age)

    def client(self) -> Pair:
        """Return the certificate of an administrator."""
        return self._pair("os:admin", None, datetime.timedelta())

    def _pair(self, organization: str, names: x509.SubjectAlternativeName | None, age: datetime.timedelta) -> Pair:
        key = Ed25519PrivateKey.generate()
        subject = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)])
        builder = _builder(subject, self._name, key, age)
        if names:
            builder = builder.add_extension(names, critical=False)
        return Pair(builder.sign(self._key, None).public_bytes(Encoding.PEM), talos_key(key))


def talos_key(key: Ed25519PrivateKey) -> bytes:
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem.replace(b" PRIVATE KEY", b" ED25519 PRIVATE KEY")


def _builder(
    subject: x509.Name, issuer: x509.Name, key: Ed25519PrivateKey, age: datetime.timedelta = datetime.timedelta()
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC) - age
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
    )
