"""What a certificate authority must be before a cluster is trusted to it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

from machinery.pem import read_key
from machinery.secrets import KeyPair

SOON = timedelta(days=365)
"""A CA that ends sooner is warned of: to rotate one takes planning."""


def authority_problems(pair: KeyPair, now: datetime | None = None) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a CA as pairs of problem and cure; both of its parts are as Talos reads them."""
    moment = now or datetime.now(UTC)
    certificate = x509.load_pem_x509_certificate(pair.crt.encode())
    named = f"the certificate of {certificate.subject.rfc4514_string() or 'no name'}"
    if read_key(pair.key).public_key() != certificate.public_key():
        yield f"{named} belongs to another key than the one beside it", "take certificate and key of one CA"
    if not _is_ca(certificate):
        yield f"{named} is no CA's", "take the CA's own certificate, not one that it signed"
    elif not _signed_itself(certificate):
        yield f"{named} was signed by another CA; Talos takes no intermediate", "take the root CA with its own key"
    if certificate.not_valid_after_utc <= moment:
        yield f"{named} ended on {certificate.not_valid_after_utc:%Y-%m-%d}", "rotate the CA where it is in use first"
    elif certificate.not_valid_before_utc > moment:
        begin = f"{certificate.not_valid_before_utc:%Y-%m-%d}"
        yield f"{named} is not valid before {begin}", "wait until then, or look at this machine's clock"


def ends_soon(pair: KeyPair, now: datetime | None = None) -> datetime | None:
    """Return when a CA ends where that is within a year, else None."""
    moment = now or datetime.now(UTC)
    end = x509.load_pem_x509_certificate(pair.crt.encode()).not_valid_after_utc
    return end if moment < end < moment + SOON else None


def _is_ca(certificate: x509.Certificate) -> bool:
    try:
        basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except (x509.ExtensionNotFound, ValueError):
        return False
    try:
        signs = certificate.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign
    except x509.ExtensionNotFound:
        signs = True
    return basic.ca and signs


def _signed_itself(certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(certificate)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True
