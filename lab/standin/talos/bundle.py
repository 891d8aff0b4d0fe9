"""Machine secrets and client identities, between the provider's properties and :mod:`machinery`."""

import base64
import binascii
from datetime import UTC, datetime, timedelta

from cryptography import x509

from lab.standin.resource import ProviderError, get
from lab.standin.values import Properties, Value
from machinery import Bundle, KeyPair, client_certificate
from talosapi import Credentials


def encoded(pem: str) -> str:
    """Return a PEM text as the provider carries it: base64."""
    return base64.b64encode(pem.encode()).decode()


def decoded(text: Value, name: str) -> str:
    """Return the PEM text of a property; raises ``ProviderError`` that names the property, never the value."""
    try:
        return base64.b64decode(text or "", validate=True).decode("ascii")
    except (binascii.Error, ValueError, TypeError) as error:
        raise ProviderError(f"{name} is not the base64 form of a PEM text") from error


def to_properties(bundle: Bundle) -> Properties:
    """Return the ``machineSecrets`` of a bundle."""
    secrets = {"bootstrapToken": bundle.bootstrap_token}
    if bundle.secretbox_encryption_secret:
        secrets["secretboxEncryptionSecret"] = bundle.secretbox_encryption_secret
    if bundle.aescbc_encryption_secret:
        secrets["aescbcEncryptionSecret"] = bundle.aescbc_encryption_secret
    return {
        "cluster": {"id": bundle.cluster_id, "secret": bundle.cluster_secret},
        "secrets": secrets,
        "trustdinfo": {"token": bundle.trustd_token},
        "certs": {
            "etcd": _pair(bundle.etcd),
            "k8s": _pair(bundle.k8s),
            "k8sAggregator": _pair(bundle.k8s_aggregator),
            "k8sServiceaccount": {"key": encoded(bundle.k8s_service_account.key)},
            "os": _pair(bundle.os),
        },
    }


def _pair(pair: KeyPair) -> Properties:
    return {"cert": encoded(pair.crt), "key": encoded(pair.key)}


def from_properties(given: Properties) -> Bundle:
    """Return the bundle in ``machineSecrets``; raises ``ProviderError`` for what is not base64."""
    return Bundle(
        cluster_id=given["cluster"]["id"],
        cluster_secret=given["cluster"]["secret"],
        bootstrap_token=given["secrets"]["bootstrapToken"],
        trustd_token=given["trustdinfo"]["token"],
        etcd=_read_pair(given, "etcd"),
        k8s=_read_pair(given, "k8s"),
        k8s_aggregator=_read_pair(given, "k8sAggregator"),
        k8s_service_account=_read_pair(given, "k8sServiceaccount"),
        os=_read_pair(given, "os"),
        secretbox_encryption_secret=get(given, "secrets", "secretboxEncryptionSecret", default=""),
        aescbc_encryption_secret=get(given, "secrets", "aescbcEncryptionSecret", default=""),
    )


def _read_pair(given: Properties, name: str) -> KeyPair:
    part, where = given["certs"][name], f"machineSecrets.certs.{name}"
    return KeyPair(decoded(part.get("cert"), f"{where}.cert"), decoded(part.get("key"), f"{where}.key"))


def client_configuration(bundle: Bundle) -> Properties:
    """Make a new os:admin identity, valid for a year."""
    made = client_certificate(bundle.os)
    return {
        "caCertificate": encoded(bundle.os.crt),
        "clientCertificate": encoded(made.crt),
        "clientKey": encoded(made.key),
    }


def credentials(inputs: Properties) -> Credentials:
    """Return the identity in ``clientConfiguration``, or in its write-only form where that is given."""
    given = inputs.get("clientConfigurationWo") or inputs.get("clientConfiguration")
    if given is None:
        raise ProviderError("both client_configuration and client_configuration_wo are null")
    names = ("caCertificate", "clientCertificate", "clientKey")
    return Credentials(*(decoded(given[name], f"clientConfiguration.{name}").encode() for name in names))


def key_pair(given: Properties) -> tuple[str, KeyPair]:
    """Return the CA and the identity in a ``clientConfiguration``, as PEM."""
    names = ("caCertificate", "clientCertificate", "clientKey")
    ca, crt, key = (decoded(given[name], f"clientConfiguration.{name}") for name in names)
    return ca, KeyPair(crt, key)


def expires_within(certificate: Value, name: str, span: timedelta) -> bool:
    """Tell whether a base64 PEM certificate ends within ``span``; raises ``ProviderError`` for another text."""
    try:
        end = x509.load_pem_x509_certificate(decoded(certificate, name).encode()).not_valid_after_utc
    except ValueError as error:
        raise ProviderError(f"{name} is not a certificate") from error
    return end < datetime.now(UTC) + span
