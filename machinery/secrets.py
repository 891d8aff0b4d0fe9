"""The secrets of a cluster, hidden in every printed form, and reading them from a secrets.yaml."""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

from machinery.errors import ConfigError
from machinery.pem import certificate_problem, key_problem
from machinery.yaml import load


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its private key, both PEM text; `crt` is empty for a key alone."""

    crt: str = field(repr=False)
    key: str = field(repr=False)


@dataclass(frozen=True)
class Bundle:
    """Everything secret of a cluster. Certificates are CAs; the key types are Talos's own."""

    cluster_id: str
    cluster_secret: str = field(repr=False)
    bootstrap_token: str = field(repr=False)
    trustd_token: str = field(repr=False)
    etcd: KeyPair = field(repr=False)
    k8s: KeyPair = field(repr=False)
    k8s_aggregator: KeyPair = field(repr=False)
    k8s_service_account: KeyPair = field(repr=False)
    os: KeyPair = field(repr=False)
    secretbox_encryption_secret: str = field(default="", repr=False)
    aescbc_encryption_secret: str = field(default="", repr=False)


_AUTHORITIES = {"etcd": "etcd", "k8s": "k8s", "k8saggregator": "k8s_aggregator", "os": "os"}
_SECTIONS = {
    "cluster": {"id": "cluster_id", "secret": "cluster_secret"},
    "secrets": {
        "bootstraptoken": "bootstrap_token",
        "secretboxencryptionsecret": "secretbox_encryption_secret",
        "aescbcencryptionsecret": "aescbc_encryption_secret",
    },
    "trustdinfo": {"token": "trustd_token"},
}


def read_secrets_yaml(text: str) -> Bundle:
    """Return the bundle in a file of `talosctl gen secrets`; raise ConfigError with every problem."""
    documents = load(text)
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise ConfigError("the secrets file must hold one map with cluster, secrets, trustdinfo and certs")
    problems: list[str] = []
    values = _texts(documents[0], problems)
    pairs = _pairs(documents[0], problems)
    if problems:
        raise ConfigError(problems)
    parts: dict[str, Any] = {**values, **pairs}
    return Bundle(**parts)


def _texts(document: dict[str, Any], problems: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for section, keys in _SECTIONS.items():
        part = document.get(section)
        for key, name in keys.items():
            value = part.get(key) if isinstance(part, dict) else None
            if isinstance(value, str) and value:
                values[name] = value
            elif value not in (None, ""):
                problems.append(f"{section}.{key} must be text in quotes")
            elif "encryption" not in key:
                problems.append(f"{section}.{key} is missing")
    ciphers = {"secretbox_encryption_secret", "aescbc_encryption_secret"} & values.keys()
    if len(ciphers) != 1:
        problems.append("exactly one of secrets.secretboxencryptionsecret and secrets.aescbcencryptionsecret is needed")
    return values


def _pairs(document: dict[str, Any], problems: list[str]) -> dict[str, KeyPair]:
    certs = document.get("certs")
    certs = certs if isinstance(certs, dict) else {}
    pairs: dict[str, KeyPair] = {}
    for name, attribute in {**_AUTHORITIES, "k8sserviceaccount": "k8s_service_account"}.items():
        where = f"certs.{name}"
        part = certs.get(name)
        if not isinstance(part, dict):
            problems.append(f"{where} is missing")
            continue
        key = _pem(part.get("key"), f"{where}.key", problems)
        crt = _pem(part.get("crt"), f"{where}.crt", problems) if name in _AUTHORITIES else ""
        if key and (problem := key_problem(key)):
            problems.append(f"{where}.key {problem}")
        if crt and (problem := certificate_problem(crt)):
            problems.append(f"{where}.crt {problem}")
        pairs[attribute] = KeyPair(crt, key)
    return pairs


def _pem(value: Any, where: str, problems: list[str]) -> str:
    if not isinstance(value, str) or not value:
        problems.append(f"{where} is missing")
        return ""
    try:
        return base64.b64decode("".join(value.split()), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        problems.append(f"{where} is not base64 of PEM text")
        return ""
