"""The CA that the certificates of machines and of their operators come from."""

from dataclasses import dataclass, field

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from talosapi.errors import CredentialsError
from talosapi.tls import loadable_key


@dataclass(frozen=True)
class Authority:
    """Talos's ``os`` CA with its key. The key is not in the representation."""

    certificate: x509.Certificate
    key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def of(cls, crt: bytes, key: bytes) -> "Authority":
        """Read the pair from PEM; raises CredentialsError for anything but Ed25519, which is all that Talos takes."""
        try:
            certificate = x509.load_pem_x509_certificate(crt)
            private = load_pem_private_key(loadable_key(key), password=None)
        except (ValueError, TypeError):
            raise CredentialsError("the machine CA or its key is not in PEM form, or is encrypted") from None
        if not isinstance(private, Ed25519PrivateKey):
            raise CredentialsError("the key of the machine CA is not an Ed25519 key")
        return cls(certificate, private)
