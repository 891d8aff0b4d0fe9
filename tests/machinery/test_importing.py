"""Secrets from elsewhere: what is converted, what is refused, and that no value is ever said."""

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from machinery import Bundle, KeyPair, generate_secrets
from machinery.importing import RefusedSecrets, import_secrets_yaml
from machinery.pem import header, read_key, write_key
from machinery.secrets import write_secrets_yaml

NOW = datetime.now(UTC)
YEAR = timedelta(days=365)
Signer = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return generate_secrets("v1.6")


def authority(
    key: Signer | None = None,
    issuer: Signer | None = None,
    *,
    begin: datetime = NOW - timedelta(days=1),
    end: datetime = NOW + 10 * YEAR,
    is_ca: bool | None = True,
    signs: bool = True,
) -> KeyPair:
    own = key or ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "kubernetes")])
    above = name if issuer is None else x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "root")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(above).public_key(own.public_key())
    builder = builder.serial_number(7).not_valid_before(begin).not_valid_after(end)
    if is_ca is not None:
        builder = builder.add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
    bits = {"digital_signature": True, "key_cert_sign": signs, "crl_sign": signs}
    others = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    usage = x509.KeyUsage(**bits, **dict.fromkeys((*others, "encipher_only", "decipher_only"), False))
    builder = builder.add_extension(usage, critical=True)
    signer = issuer or own
    algorithm = None if isinstance(signer, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return KeyPair(builder.sign(signer, algorithm).public_bytes(Encoding.PEM).decode(), write_key(own))


def refusals(bundle: Bundle) -> list[str]:
    text = write_secrets_yaml(bundle)
    with pytest.raises(RefusedSecrets) as caught:
        import_secrets_yaml(text)
    said = [f"{each.message}; {each.cure}" for each in caught.value.findings]
    for value in (bundle.bootstrap_token, bundle.cluster_secret, bundle.k8s.key, bundle.secretbox_encryption_secret):
        assert not value or not any(value in each or value[:40] in each for each in said)
    return said


def test_what_talosctl_makes_is_taken_as_it_is(bundle: Bundle) -> None:
    imported = import_secrets_yaml(write_secrets_yaml(bundle))
    assert imported.bundle == bundle and not imported.is_converted and imported.ending == ()


WRONG: dict[str, tuple[Callable[[], KeyPair], str]] = {
    "a key of another CA": (
        lambda: KeyPair(authority().crt, authority().key),
        "certs.k8s.crt the certificate of CN=kubernetes belongs to another key than the one beside it",
    ),
    "an expired CA": (
        lambda: authority(begin=NOW - 2 * YEAR, end=NOW - timedelta(days=1)),
        "certs.k8s.crt the certificate of CN=kubernetes ended on",
    ),
    "a CA of the future": (
        lambda: authority(begin=NOW + timedelta(days=2)),
        "certs.k8s.crt the certificate of CN=kubernetes is not valid before",
    ),
    "no CA": (lambda: authority(is_ca=False), "certs.k8s.crt the certificate of CN=kubernetes is no CA's"),
    "nothing about being a CA": (lambda: authority(is_ca=None), "is no CA's"),
    "a CA that signs no certificates": (lambda: authority(signs=False), "is no CA's"),
    "an intermediate": (
        lambda: authority(issuer=ec.generate_private_key(ec.SECP256R1())),
        "was signed by another CA; Talos takes no intermediate",
    ),
    "a chain": (
        lambda: replace(one := authority(), crt=one.crt + authority().crt),
        "certs.k8s.crt holds 2 certificates; Talos takes one CA that signed itself, and no chain",
    ),
    "RSA of 1024 bits": (
        lambda: authority(rsa.generate_private_key(65537, 1024)),
        "certs.k8s.key is an RSA key of 1024 bits; 2048 are the least",
    ),
    "a curve that Go has not": (
        lambda: authority(ec.generate_private_key(ec.SECP256K1())),
        "certs.k8s.key is on the curve secp256k1; Talos takes P-256, P-384 and P-521",
    ),
    "an encrypted key": (
        lambda: encrypted(authority(), PrivateFormat.PKCS8),
        "certs.k8s.key is encrypted with a passphrase; decrypt it",
    ),
    "an encrypted key of the old form": (
        lambda: encrypted(authority(), PrivateFormat.TraditionalOpenSSL),
        "certs.k8s.key is encrypted with a passphrase; decrypt it",
    ),
    "no key in the text": (lambda: replace(authority(), key="hello"), "certs.k8s.key holds no private key in PEM form"),
    "two keys": (
        lambda: replace(one := authority(), key=one.key + authority().key),
        "certs.k8s.key holds 2 private keys, not one",
    ),
    "a DSA key": (lambda: replace(authority(), key=dsa_key()), "it is neither an RSA, an EC nor an Ed25519 key"),
    "a broken certificate": (
        lambda: replace(authority(), crt="-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"),
        "certs.k8s.crt is no certificate: it cannot be read",
    ),
}


def encrypted(pair: KeyPair, form: PrivateFormat) -> KeyPair:
    return replace(
        pair, key=read_key(pair.key).private_bytes(Encoding.PEM, form, BestAvailableEncryption(b"x")).decode()
    )


def dsa_key() -> str:
    key = dsa.generate_private_key(1024)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.mark.parametrize("case", WRONG)
def test_a_ca_that_cannot_serve_is_refused_by_its_place(bundle: Bundle, case: str) -> None:
    make, message = WRONG[case]
    (said,) = refusals(replace(bundle, k8s=make()))
    assert message in said


@pytest.mark.parametrize("name", ["etcd", "k8s", "k8s_aggregator", "os"])
def test_every_ca_is_asked_the_same(bundle: Bundle, name: str) -> None:
    expired = authority(begin=NOW - 2 * YEAR, end=NOW - timedelta(days=1))
    changed = {"etcd": replace(bundle, etcd=expired), "k8s": replace(bundle, k8s=expired)}
    changed |= {"k8s_aggregator": replace(bundle, k8s_aggregator=expired), "os": replace(bundle, os=expired)}
    (said,) = refusals(changed[name])
    assert said.startswith(f"certs.{name.replace('_', '')}.crt ") and " ended on " in said


@pytest.mark.parametrize(
    "token", ["ABCDEF.0123456789abcdef", "abcdef.0123", "abcdef0123456789abcdef", "abcdef.0123456789abcdef\n"]
)
def test_a_bootstrap_token_has_its_form(bundle: Bundle, token: str) -> None:
    (said,) = refusals(replace(bundle, bootstrap_token=token))
    assert said.startswith("secrets.bootstraptoken is no bootstrap token: six characters, a dot and sixteen more")


def test_a_key_for_encryption_at_rest_has_its_size(bundle: Bundle) -> None:
    short = base64.b64encode(bytes(16)).decode()
    (said,) = refusals(replace(bundle, secretbox_encryption_secret=short))
    assert said.startswith("secrets.secretboxencryptionsecret is not base64 of 32 bytes")
    (said,) = refusals(replace(bundle, cluster_secret=short))
    assert said.startswith("cluster.secret is not base64 of 32 bytes")


def test_an_aescbc_key_alone_would_reach_no_machine(bundle: Bundle) -> None:
    secret = bundle.secretbox_encryption_secret
    (said,) = refusals(replace(bundle, secretbox_encryption_secret="", aescbc_encryption_secret=secret))
    assert "is the only key for encryption at rest, and Talos writes none of its kind" in said
    assert "in a patch: cluster.aescbcEncryptionSecret" in said
    (said,) = refusals(replace(bundle, aescbc_encryption_secret=secret))
    assert "Talos takes one of the two" in said
    (said,) = refusals(replace(bundle, secretbox_encryption_secret=""))
    assert said.startswith("secrets.secretboxencryptionsecret is missing")


def test_kubernetes_signs_no_tokens_with_ed25519(bundle: Bundle) -> None:
    key = KeyPair("", write_key(ed25519.Ed25519PrivateKey.generate()))
    (said,) = refusals(replace(bundle, k8s_service_account=key))
    assert said.startswith("certs.k8sserviceaccount.key is an Ed25519 key, with which Kubernetes signs no tokens")


def test_everything_wrong_is_said_at_once(bundle: Bundle) -> None:
    said = refusals(replace(bundle, k8s=authority(is_ca=False), etcd=KeyPair("", ""), bootstrap_token="hunter-2"))
    assert [each.split(" ")[0] for each in said] == [
        "certs.etcd.crt",
        "certs.etcd.key",
        "secrets.bootstraptoken",
        "certs.k8s.crt",
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: rsa.generate_private_key(65537, 2048),
        lambda: ec.generate_private_key(ec.SECP384R1()),
        ed25519.Ed25519PrivateKey.generate,
    ],
)
def test_keys_of_pkcs8_are_converted(bundle: Bundle, make: Callable[[], Signer]) -> None:
    made = authority(make())
    pkcs8 = read_key(made.key).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    assert header(pkcs8) == "PRIVATE KEY"
    imported = import_secrets_yaml(write_secrets_yaml(replace(bundle, k8s=replace(made, key=pkcs8))))
    assert imported.is_converted and imported.bundle == replace(bundle, k8s=made)


PARAMETERS = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"


@pytest.mark.parametrize(
    "change",
    [
        lambda pair: replace(pair, crt=f"Certificate:\n    Data:\n        Version: 3 (0x2)\n{pair.crt}"),
        lambda pair: replace(pair, crt=pair.crt.replace("\n", "\r\n")),
        lambda pair: replace(pair, crt=f"{pair.crt}\nbag attributes\n"),
        lambda pair: replace(pair, key=PARAMETERS + pair.key),
        lambda pair: replace(pair, key=pair.key.replace("\n", "\r\n")),
        lambda pair: replace(pair, key=f"a word before\n{pair.key}"),
    ],
)
def test_what_openssl_and_windows_put_around_is_left_out(bundle: Bundle, change: Callable[[KeyPair], KeyPair]) -> None:
    imported = import_secrets_yaml(write_secrets_yaml(replace(bundle, k8s=change(bundle.k8s))))
    assert imported.is_converted and imported.bundle == bundle


def test_a_curve_that_is_written_out_gets_its_name(bundle: Bundle) -> None:
    """Go reads a key only where the curve has its name; this one is from `openssl ec -param_enc explicit`."""
    imported = import_secrets_yaml(write_secrets_yaml(replace(bundle, k8s_service_account=KeyPair("", WRITTEN_OUT))))
    key = imported.bundle.k8s_service_account.key
    assert imported.is_converted and len(key) < len(WRITTEN_OUT)
    assert read_key(key).public_key() == read_key(WRITTEN_OUT).public_key()


WRITTEN_OUT = """-----BEGIN EC PRIVATE KEY-----
MIIBaAIBAQQg7P5aQWfILMC/MvgNBSLZbHZpgZn3B18bWnElakA0+NSggfowgfcC
AQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAAAAAAAAAAAAAA////////////////
MFsEIP////8AAAABAAAAAAAAAAAAAAAA///////////////8BCBaxjXYqjqT57Pr
vVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSdNgiG5wSTamZ44ROdJreBn36QBEEE
axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54W
K84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA//////////+85vqtpxeehPO5ysL8
YyVRAgEBoUQDQgAEtJLCkaHvG1SQk8UrXvVw0Qk36ttFaKMPtjH7YIjkpgNOWvdB
AaMpQmtjpdD1vCFDp3kTVJaqz8Z8XbGlxKj4vA==
-----END EC PRIVATE KEY-----
"""


def test_a_ca_that_ends_within_a_year_is_told_with_its_end(bundle: Bundle) -> None:
    end = (NOW + timedelta(days=20)).replace(microsecond=0)
    imported = import_secrets_yaml(write_secrets_yaml(replace(bundle, etcd=authority(end=end))))
    assert imported.ending == (("certs.etcd.crt", end),)


def test_an_encrypted_file_is_told_from_a_broken_one(bundle: Bundle) -> None:
    with pytest.raises(RefusedSecrets, match="is encrypted by SOPS"):
        import_secrets_yaml("cluster: {id: 'ENC[AES256_GCM,data:x]'}\nsops: {version: 3.9.0}\n")


@pytest.mark.parametrize("text", ["", "[]", "a", "a: [", "---\na: 1\n---\nb: 1\n", "&a [*a]"])
def test_a_file_that_is_no_secrets_file_is_refused(text: str) -> None:
    with pytest.raises(RefusedSecrets):
        import_secrets_yaml(text)
