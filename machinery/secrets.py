"""The secrets of a cluster, hidden in every printed form, in all the forms in which they are kept.

They are a tree of texts with the same places everywhere. Only the spelling of the keys differs: a secrets.yaml of
talosctl has `certs.k8saggregator.crt`, the Talos provider's properties have `certs.k8sAggregator.cert`.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from machinery.emit import dump
from machinery.errors import ConfigError
from machinery.pem import certificate_problem, key_problem
from machinery.problems import Problem
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


TEXTS: Mapping[str, tuple[str, str]] = {
    "cluster_id": ("cluster", "id"),
    "cluster_secret": ("cluster", "secret"),
    "bootstrap_token": ("secrets", "bootstraptoken"),
    "secretbox_encryption_secret": ("secrets", "secretboxencryptionsecret"),
    "aescbc_encryption_secret": ("secrets", "aescbcencryptionsecret"),
    "trustd_token": ("trustdinfo", "token"),
}
"""Where a secrets.yaml has each text of a bundle."""
OPTIONAL = frozenset({"secretbox_encryption_secret", "aescbc_encryption_secret"})
PAIRS: Mapping[str, str] = {
    "etcd": "etcd",
    "k8s": "k8s",
    "k8s_aggregator": "k8saggregator",
    "k8s_service_account": "k8sserviceaccount",
    "os": "os",
}
"""The name that each pair of a bundle has under `certs` in a secrets.yaml."""
KEY_ALONE = "k8s_service_account"
_PROPERTIES = {
    "bootstraptoken": "bootstrapToken",
    "secretboxencryptionsecret": "secretboxEncryptionSecret",
    "aescbcencryptionsecret": "aescbcEncryptionSecret",
    "k8saggregator": "k8sAggregator",
    "k8sserviceaccount": "k8sServiceaccount",
    "crt": "cert",
}
"""The provider's spelling of the keys where it is another one."""


def read_secrets_yaml(text: str) -> Bundle:
    """Return the bundle in a file of `talosctl gen secrets`; raise ConfigError with every problem."""
    document = secrets_document(text)
    problems: list[Problem] = []
    bundle = read_tree(document, problems)
    for attribute, name in PAIRS.items():
        pair: KeyPair = getattr(bundle, attribute)
        if pair.key and (problem := key_problem(pair.key)):
            problems.append(Problem(f"certs.{name}.key {problem}", ("certs", name, "key")))
        if pair.crt and (problem := certificate_problem(pair.crt)):
            problems.append(Problem(f"certs.{name}.crt {problem}", ("certs", name, "crt")))
    if bool(bundle.secretbox_encryption_secret) == bool(bundle.aescbc_encryption_secret):
        message = "exactly one of secrets.secretboxencryptionsecret and secrets.aescbcencryptionsecret is needed"
        problems.append(Problem(message))
    if problems:
        raise ConfigError(*problems)
    return bundle


def secrets_document(text: str) -> dict[str, Any]:
    """Return the one map of a secrets.yaml; raise ConfigError where it is none."""
    documents = load(text)
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise ConfigError("the secrets file must hold one map with cluster, secrets, trustdinfo and certs")
    return documents[0]


def write_secrets_yaml(bundle: Bundle) -> str:
    """Return the bundle as a file of `talosctl gen secrets`."""
    return dump([_tree(bundle)])


def from_properties(properties: Mapping[str, Any]) -> Bundle:
    """Return the bundle in `machineSecrets` of the provider, in its spelling or the SDK's; raise ConfigError."""
    problems: list[Problem] = []
    bundle = read_tree(normalised(properties), problems)
    if problems:
        raise ConfigError(*problems)
    return bundle


def to_properties(bundle: Bundle) -> dict[str, Any]:
    """Return the `machineSecrets` of the provider."""
    renamed: dict[str, Any] = _renamed(_tree(bundle))
    return renamed


def read_tree(document: Mapping[str, Any], problems: list[Problem]) -> Bundle:
    """Return what a tree holds; what is missing or no text in it is empty, and in ``problems``."""
    values: dict[str, Any] = {}
    for attribute, (section, key) in TEXTS.items():
        values[attribute] = _text(document, (section, key), problems, optional=attribute in OPTIONAL)
    for attribute, name in PAIRS.items():
        crt = "" if attribute == KEY_ALONE else _pem(document, ("certs", name, "crt"), problems)
        values[attribute] = KeyPair(crt, _pem(document, ("certs", name, "key"), problems))
    return Bundle(**values)


def encoded(pem: str) -> str:
    """Return a PEM text as configurations, secrets.yaml and the provider carry it: base64."""
    return base64.b64encode(pem.encode()).decode()


def _tree(bundle: Bundle) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for attribute, (section, key) in TEXTS.items():
        if value := getattr(bundle, attribute):
            tree.setdefault(section, {})[key] = value
    tree["certs"] = {
        name: {part: encoded(pem) for part in ("crt", "key") if (pem := getattr(getattr(bundle, attribute), part))}
        for attribute, name in PAIRS.items()
    }
    return tree


def _renamed(tree: Any) -> Any:
    return {_PROPERTIES.get(key, key): _renamed(item) for key, item in tree.items()} if isinstance(tree, dict) else tree


def normalised(tree: Any) -> Any:
    """Return a tree with the keys of a secrets.yaml: those of `bootstrapToken` and `bootstrap_token` are alike."""
    if not isinstance(tree, Mapping):
        return tree
    plain = {key.replace("_", "").lower(): normalised(item) for key, item in tree.items()}
    return {"crt" if key == "cert" else key: item for key, item in plain.items()}


def _text(document: Any, path: tuple[str, ...], problems: list[Problem], *, optional: bool = False) -> str:
    value = document
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, str) and value:
        return value
    where = ".".join(path)
    if value not in (None, ""):
        problems.append(Problem(f"{where} must be text in quotes", path))
    elif not optional:
        problems.append(Problem(f"{where} is missing", path))
    return ""


def _pem(document: Any, path: tuple[str, ...], problems: list[Problem]) -> str:
    value = _text(document, path, problems)
    try:
        return base64.b64decode("".join(value.split()), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        problems.append(Problem(f"{'.'.join(path)} is not base64 of PEM text", path))
        return ""
