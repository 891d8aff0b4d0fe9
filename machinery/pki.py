"""Making a cluster's secrets: CAs, keys and tokens of the kinds that Talos makes, and client certificates from them."""

import base64
import secrets
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from machinery.contract import contract_of
from machinery.pem import PrivateKey, read_key, write_key
from machinery.secrets import Bundle, KeyPair

CA_LIFETIME = timedelta(hours=87600)
CLIENT_LIFETIME = timedelta(hours=8760)
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_RSA_BITS = 4096


def generate_secrets(talos_version: str = "v1.13", now: datetime | None = None) -> Bundle:
    """Return fresh secrets for a contract. The RSA key of the service account takes up to a few seconds."""
    moment = now or datetime.now(UTC)
    old = not contract_of(talos_version).after(6)
    service_account: PrivateKey = (
        ec.generate_private_key(ec.SECP256R1()) if old else rsa.generate_private_key(65537, _RSA_BITS)
    )
    return Bundle(
        cluster_id=base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        cluster_secret=base64.b64encode(secrets.token_bytes(32)).decode(),
        bootstrap_token=_token(),
        trustd_token=_token(),
        secretbox_encryption_secret=base64.b64encode(secrets.token_bytes(32)).decode(),
        etcd=_authority(ec.generate_private_key(ec.SECP256R1()), moment, organization="etcd"),
        k8s=_authority(ec.generate_private_key(ec.SECP256R1()), moment, organization="kubernetes"),
        k8s_aggregator=_authority(ec.generate_private_key(ec.SECP256R1()), moment),
        k8s_service_account=KeyPair("", write_key(service_account)),
        os=_authority(ed25519.Ed25519PrivateKey.generate(), moment, organization="talos"),
    )


def _token() -> str:
    first, second = ("".join(secrets.choice(_LETTERS) for _ in range(length)) for length in (6, 16))
    return f"{first}.{second}"


def _name(organization: str = "", common_name: str = "") -> x509.Name:
    parts = ((NameOID.ORGANIZATION_NAME, organization), (NameOID.COMMON_NAME, common_name))
    return x509.Name([x509.NameAttribute(oid, value) for oid, value in parts if value])


def _authority(key: PrivateKey, now: datetime, organization: str = "") -> KeyPair:
    """Make a CA. Talos gives the aggregator's no name at all."""
    name = _name(organization)
    builder = _builder(key, name, name, now, CA_LIFETIME)
    builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
    both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    builder = builder.add_extension(x509.ExtendedKeyUsage(both), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    builder = builder.add_extension(x509.SubjectKeyIdentifier(secrets.token_bytes(20)), critical=False)
    return KeyPair(_signed(builder, key), write_key(key))


def client_certificate(
    ca: KeyPair,
    organization: str = "os:admin",
    common_name: str = "",
    lifetime: timedelta = CLIENT_LIFETIME,
    now: datetime | None = None,
) -> KeyPair:
    """Return a client certificate signed by a CA, with a key of the CA's type; raise ValueError for no CA."""
    ca_key, issuer = read_key(ca.key), x509.load_pem_x509_certificate(ca.crt.encode())
    key = _same_kind(ca_key)
    builder = _builder(key, _name(organization, common_name), issuer.subject, now or datetime.now(UTC), lifetime)
    builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    authority = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
    builder = builder.add_extension(authority, critical=False)
    return KeyPair(_signed(builder, ca_key), write_key(key))


def _same_kind(key: PrivateKey) -> PrivateKey:
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return ed25519.Ed25519PrivateKey.generate()
    if isinstance(key, rsa.RSAPrivateKey):
        return rsa.generate_private_key(65537, _RSA_BITS)
    return ec.generate_private_key(ec.SECP256R1())


def _builder(
    key: PrivateKey, subject: x509.Name, issuer: x509.Name, now: datetime, lifetime: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + lifetime)
    )


def _usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _signed(builder: x509.CertificateBuilder, key: PrivateKey) -> str:
    algorithm = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return builder.sign(key, algorithm).public_bytes(Encoding.PEM).decode()
