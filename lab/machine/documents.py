"""Reading plain documents: sections, key pairs, addresses, secrets."""

import base64
import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab.machine.pki import Authority

Document = Mapping[str, Any]
_SECRET_KEYS = frozenset(
    {"token", "key", "secret", "secretboxEncryptionSecret", "aescbcEncryptionSecret", "password", "auth", "privateKey"}
    | {"identityToken", "bootstrapToken", "presharedKey", "passphrase"}
)


def secrets_in(value: object, key: str = "") -> Iterator[str]:
    """Every value under a key that names a secret."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from secrets_in(inner, str(name))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from secrets_in(inner, key)
    elif isinstance(value, str) and key in _SECRET_KEYS:
        yield value


def section(value: object) -> Document:
    """A mapping, empty where there is none."""
    return value if isinstance(value, Mapping) else {}


def authority(value: object) -> Authority:
    """A certificate and key in base64, as configurations hold them."""
    pair = section(value)
    return Authority(base64.b64decode(str(pair.get("crt") or "")), base64.b64decode(str(pair.get("key") or "")))


def bare_address(value: object) -> str:
    """An address without its prefix length."""
    try:
        return str(ipaddress.ip_interface(str(value)).ip)
    except ValueError:
        return str(value)
