"""Who may call the machines of a cluster."""

import ssl
from dataclasses import dataclass, field

from talosapi import tls


@dataclass(frozen=True)
class Credentials:
    """A talosconfig's identity: the machines' CA (``os``), a client certificate and its key, as PEM.

    None of it is in the representation.
    """

    ca: bytes = field(repr=False)
    crt: bytes = field(repr=False)
    key: bytes = field(repr=False)

    def context(self) -> ssl.SSLContext:
        """Return the TLS context of a client with this identity; raises CredentialsError."""
        return tls.client_context(self.ca, self.crt, self.key)
