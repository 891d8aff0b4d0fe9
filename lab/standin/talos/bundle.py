"""Machine secrets and client identities, between the provider's properties and :mod:`machinery`."""

import base64
import binascii
from datetime import UTC, datetime, timedelta

from cryptography import x509

from lab.standin.resource import ProviderError
from lab.standin.values import Properties, Value
from machinery import Bundle, ConfigError, KeyPair, client_certificate
from machinery import secrets as forms
from machinery.secrets import encoded
from talosapi import Credentials


def decoded(text: Value, name: str) -> str:
    """Return the PEM text of a property; raises ``ProviderError`` that names the property, never the value."""
    try:
        return base64.b64decode(text or "", validate=True).decode("ascii")
    except (binascii.Error, ValueError, TypeError) as error:
        raise ProviderError(f"{name} is not the base64 form of a PEM text") from error


def from_properties(given: Properties) -> Bundle:
    """Return the bundle in ``machineSecrets``; raises ``ProviderError`` for what is missing or not base64."""
    try:
        return forms.from_properties(given)
    except ConfigError as error:
        raise ProviderError("; ".join(f"machineSecrets.{problem}" for problem in error.problems)) from error


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
