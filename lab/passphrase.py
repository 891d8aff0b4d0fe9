"""Pulumi's passphrase encryption, so that a stack's secrets can be given lab values without asking for the real ones.

The format is the engine's own: AES-256-GCM under a key derived with a million rounds of PBKDF2-SHA-256; a value is
``v1:<nonce>:<ciphertext>`` and a stack's salt line ends with the encrypted word ``pulumi``.
"""

import hashlib
import os
from base64 import b64decode, b64encode

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ROUNDS = 1_000_000


class Passphrase:
    """Encrypts for one salt. The passphrase itself is not kept."""

    def __init__(self, passphrase: str, state: str | None = None) -> None:
        """Derive the key for ``state``, the salt line of a stack file, or for a new salt."""
        salt = b64decode(state.split(":")[1]) if state else os.urandom(8)
        self._cipher = AESGCM(hashlib.pbkdf2_hmac("sha256", passphrase.encode(), salt, ROUNDS))
        self.state = state or f"v1:{b64encode(salt).decode()}:{self.encrypt('pulumi')}"
        """What the stack file says as ``encryptionsalt``."""

    def encrypt(self, value: str) -> str:
        """Return what stands under ``secure`` in a stack file."""
        nonce = os.urandom(12)
        return f"v1:{b64encode(nonce).decode()}:{b64encode(self._cipher.encrypt(nonce, value.encode(), None)).decode()}"
