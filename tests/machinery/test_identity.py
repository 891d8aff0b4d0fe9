"""Identities of operators: what a certificate says, and when none is made."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from machinery import KeyPair, generate_secrets
from machinery.identity import BACKDATED, ROLES, identity

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
CA = generate_secrets(now=NOW - timedelta(days=1)).os


@pytest.mark.parametrize("role", ROLES)
def test_a_certificate_says_its_role_as_talos_reads_it(role: str) -> None:
    made = identity(CA, role, timedelta(hours=8), NOW)
    certificate = x509.load_pem_x509_certificate(made.pair.crt.encode())
    assert isinstance(certificate.public_key(), Ed25519PublicKey)
    assert [(part.oid, part.value) for part in certificate.subject] == [(NameOID.ORGANIZATION_NAME, role)]
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(CA.crt.encode()))
    assert made.pair.key.startswith("-----BEGIN ED25519 PRIVATE KEY-----")


def test_it_is_valid_a_little_before_now_and_for_its_lifetime() -> None:
    made = identity(CA, "os:reader", timedelta(hours=8), NOW)
    certificate = x509.load_pem_x509_certificate(made.pair.crt.encode())
    assert certificate.not_valid_before_utc == NOW - BACKDATED
    assert certificate.not_valid_after_utc == made.until == NOW + timedelta(hours=8)
    assert int(made.serial, 16) == certificate.serial_number
    assert len(bytes.fromhex(made.fingerprint)) == 32


def test_its_printed_form_holds_no_key() -> None:
    assert "PRIVATE KEY" not in repr(identity(CA, "os:reader", timedelta(hours=8), NOW))


def test_none_outlives_the_ca() -> None:
    with pytest.raises(ValueError, match=r"^the CA of the machines ends on 2039-12-29, before this certificate would$"):
        identity(CA, "os:reader", timedelta(days=7), NOW + timedelta(days=3645))


def test_a_ca_that_is_none_is_refused_without_quoting_it() -> None:
    with pytest.raises(ValueError, match=r"^the CA of the machines cannot be read$"):
        identity(KeyPair(CA.crt, "hunter2"), "os:reader", timedelta(hours=8), NOW)
