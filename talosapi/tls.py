"""TLS contexts made of PEM text in memory.

Python's OpenSSL takes Talos's Ed25519 certificates, which the BoringSSL of grpcio refuses; so this API is spoken
over ``ssl``. A private key is never left on a disk.
"""

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from talosapi.errors import CredentialsError

_TALOS_HEADER = b"ED25519 PRIVATE KEY-----"
_OPENSSL_HEADER = b"PRIVATE KEY-----"


def loadable_key(key: bytes) -> bytes:
    """Give a key the PEM header OpenSSL knows: Talos names the algorithm there, and the bytes under it are PKCS#8."""
    return key.replace(_TALOS_HEADER, _OPENSSL_HEADER)


def client_context(ca: bytes, crt: bytes, key: bytes, *, alpn: tuple[str, ...] = ("h2",)) -> ssl.SSLContext:
    """Return a context that trusts this CA alone, checks the server's address and shows this certificate.

    Raises CredentialsError.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(list(alpn))
    trust(context, ca)
    load_identity(context, crt, key)
    return context


def insecure_context() -> ssl.SSLContext:
    """Return a context for maintenance mode: the machine has made its own certificate, so there is nothing to check."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context


def trust(context: ssl.SSLContext, ca: bytes) -> None:
    """Trust the certificates of this PEM; raises CredentialsError when there is none."""
    try:
        context.load_verify_locations(cadata=ca.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise CredentialsError("the CA is not a certificate in PEM form") from None
    if not context.get_ca_certs():
        raise CredentialsError("the CA is not the certificate of a CA")


def load_identity(context: ssl.SSLContext, crt: bytes, key: bytes) -> None:
    """Show this certificate to the other side; raises CredentialsError when the pair cannot be used."""
    try:
        with _as_file(crt.strip() + b"\n" + loadable_key(key).strip() + b"\n") as path:
            # OpenSSL would ask the terminal for the password of an encrypted key.
            context.load_cert_chain(path, password=lambda: b"")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise CredentialsError("the certificate does not belong to the private key") from None
        raise CredentialsError("the certificate or its private key is not in PEM form, or is encrypted") from None


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """Lend the bytes as a file, because ``ssl`` takes nothing else: in memory where Linux can, else gone at once."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        descriptor = os.memfd_create("identity", os.MFD_CLOEXEC)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{descriptor}"
        return
    descriptor, name = tempfile.mkstemp()  # readable by this user alone
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        yield name
    finally:
        Path(name).unlink()
