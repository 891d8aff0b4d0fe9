"""Certificates of simulated machines: what Talos issues from the authorities in its configuration."""

import datetime
import ipaddress
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PrivateKey = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

SERVER = ExtendedKeyUsageOID.SERVER_AUTH
CLIENT = ExtendedKeyUsageOID.CLIENT_AUTH
_VALIDITY = datetime.timedelta(hours=24)  # as Talos's own short-lived certificates
_SLACK = datetime.timedelta(minutes=5)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, both PEM; the key stays out of ``repr``."""

    crt: bytes
    key: bytes = field(repr=False)


@dataclass(frozen=True)
class Authority:
    """A certificate authority as a configuration holds it: PEM, and no key on a worker."""

    crt: bytes
    key: bytes = field(repr=False, default=b"")

    def issue(
        self,
        name: str,
        usages: Sequence[x509.ObjectIdentifier],
        *,
        organizations: Sequence[str] = (),
        hosts: Sequence[str] = (),
        skew: float = 0.0,
    ) -> Pair:
        """Issue a certificate for ``hosts`` (addresses or names); ``skew`` seconds move the machine's idea of now.

        Raises ValueError when the authority has no key or one that cannot be read.
        """
        if not self.key:
            raise ValueError("this certificate authority has no key")
        issuer_key = load_key(self.key)
        issuer = x509.load_pem_x509_certificate(self.crt)
        key = _new_key(issuer_key)
        return _sign(_builder(name, usages, organizations, hosts, skew, key), key, issuer.subject, issuer_key)


def self_signed(name: str, hosts: Sequence[str]) -> Pair:
    """A certificate that nothing vouches for: what a machine in maintenance mode shows."""
    key = ed25519.Ed25519PrivateKey.generate()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    return _sign(_builder(name, [SERVER], (), hosts, 0.0, key), key, subject, key)


def load_key(pem: bytes) -> PrivateKey:
    """Read a key with one of Talos's PEM headers; OpenSSL does not know ``ED25519 PRIVATE KEY``."""
    return cast(
        PrivateKey, serialization.load_pem_private_key(pem.replace(b"ED25519 PRIVATE KEY", b"PRIVATE KEY"), None)
    )


def server_context(pair: Pair, clients: bytes = b"", *, required: bool = False, h2: bool = False) -> ssl.SSLContext:
    """TLS for a listener; ``clients`` are the PEM authorities that client certificates must come from."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if clients:
        context.load_verify_locations(cadata=clients.decode())
        context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
    if h2:
        context.set_alpn_protocols(["h2"])
    load_pair(context, pair)
    return context


def client_context(authority: bytes, pair: Pair | None = None, *, h2: bool = False) -> ssl.SSLContext:
    """TLS for a call to a server whose certificate ``authority`` (PEM) vouches for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=authority.decode())
    if h2:
        context.set_alpn_protocols(["h2"])
    if pair:
        load_pair(context, pair)
    return context


def load_pair(context: ssl.SSLContext, pair: Pair) -> None:
    """Give a context its certificate; Python takes it from a file only, which is gone when this returns."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "pair.pem"
        file.touch(mode=0o600)
        file.write_bytes(pair.crt + b"\n" + pair.key)
        context.load_cert_chain(file)


def fingerprint(crt: bytes) -> str:
    """A short public name for an authority, for comparing clusters without naming a secret."""
    return x509.load_pem_x509_certificate(crt).fingerprint(hashes.SHA256()).hex()[:16]


def _new_key(like: PrivateKey) -> PrivateKey:
    if isinstance(like, ed25519.Ed25519PrivateKey):
        return ed25519.Ed25519PrivateKey.generate()
    return ec.generate_private_key(ec.SECP256R1())


def _builder(
    name: str,
    usages: Sequence[x509.ObjectIdentifier],
    organizations: Sequence[str],
    hosts: Sequence[str],
    skew: float,
    key: PrivateKey,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=skew)
    subject = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, value) for value in organizations]
    subject.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(subject))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SLACK)
        .not_valid_after(now + _VALIDITY)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(list(usages)), critical=False)
    )
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
    return builder


def _sign(builder: x509.CertificateBuilder, key: PrivateKey, issuer: x509.Name, issuer_key: PrivateKey) -> Pair:
    algorithm = None if isinstance(issuer_key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    certificate = builder.issuer_name(issuer).sign(issuer_key, algorithm)
    return Pair(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
