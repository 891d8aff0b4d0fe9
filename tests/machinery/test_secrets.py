"""Secrets that are made, read, and given to clients."""

import ssl
from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from machinery import (
    Bundle,
    ConfigError,
    KeyPair,
    client_certificate,
    generate_secrets,
    kubeconfig,
    read_secrets_yaml,
    talosconfig,
)
from machinery.emit import dump
from machinery.pem import header, read_key
from machinery.yaml import load


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return generate_secrets("v1.13.9")


def certificate(text: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(text.encode())


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def secrets_yaml(bundle: Bundle) -> dict[str, Any]:
    names = {"etcd": bundle.etcd, "k8s": bundle.k8s, "k8saggregator": bundle.k8s_aggregator, "os": bundle.os}
    certs = {name: {"crt": encoded(pair.crt), "key": encoded(pair.key)} for name, pair in names.items()}
    return {
        "cluster": {"id": bundle.cluster_id, "secret": bundle.cluster_secret},
        "secrets": {
            "bootstraptoken": bundle.bootstrap_token,
            "secretboxencryptionsecret": bundle.secretbox_encryption_secret,
        },
        "trustdinfo": {"token": bundle.trustd_token},
        "certs": {**certs, "k8sserviceaccount": {"key": encoded(bundle.k8s_service_account.key)}},
    }


@pytest.mark.parametrize(
    ("name", "kind", "pem", "organization"),
    [
        ("os", ed25519.Ed25519PrivateKey, "ED25519 PRIVATE KEY", "O=talos"),
        ("k8s", ec.EllipticCurvePrivateKey, "EC PRIVATE KEY", "O=kubernetes"),
        ("etcd", ec.EllipticCurvePrivateKey, "EC PRIVATE KEY", "O=etcd"),
        ("k8s_aggregator", ec.EllipticCurvePrivateKey, "EC PRIVATE KEY", ""),
    ],
)
def test_each_ca_has_the_key_and_the_name_that_talos_gives_it(
    bundle: Bundle, name: str, kind: type, pem: str, organization: str
) -> None:
    pair: KeyPair = getattr(bundle, name)
    ca = certificate(pair.crt)
    assert header(pair.key) == pem
    assert isinstance(read_key(pair.key), kind)
    assert read_key(pair.key).public_key() == ca.public_key()
    assert ca.subject.rfc4514_string() == organization
    assert ca.not_valid_after_utc - ca.not_valid_before_utc == timedelta(hours=87600)
    assert ca.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_the_service_account_has_an_rsa_key_from_contract_1_7_on(bundle: Bundle) -> None:
    key = read_key(bundle.k8s_service_account.key)
    assert isinstance(key, rsa.RSAPrivateKey)
    assert key.key_size == 4096
    old = read_key(generate_secrets("v1.6").k8s_service_account.key)
    assert isinstance(old, ec.EllipticCurvePrivateKey)


def test_nothing_secret_is_shown(bundle: Bundle) -> None:
    assert repr(bundle) == f"Bundle(cluster_id={bundle.cluster_id!r})"
    assert repr(bundle.os) == "KeyPair()"


def test_a_client_certificate_is_for_the_administrator_and_signed_by_the_ca(bundle: Bundle) -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    pair = client_certificate(bundle.os, now=now)
    client = certificate(pair.crt)
    client.verify_directly_issued_by(certificate(bundle.os.crt))
    assert client.subject.rfc4514_string() == "O=os:admin"
    assert client.not_valid_after_utc == now + timedelta(hours=8760)
    assert header(pair.key) == "ED25519 PRIVATE KEY"


def test_a_talosconfig_names_the_cluster_its_endpoints_and_the_client(bundle: Bundle) -> None:
    client = client_certificate(bundle.os)
    (config,) = load(talosconfig("demo", bundle.os.crt, client, ["10.0.0.1"], ["10.0.0.2"]))
    assert config["context"] == "demo"
    assert config["contexts"]["demo"] == {
        "endpoints": ["10.0.0.1"],
        "nodes": ["10.0.0.2"],
        "ca": encoded(bundle.os.crt),
        "crt": encoded(client.crt),
        "key": encoded(client.key),
    }


def test_a_kubeconfig_has_the_endpoint_and_a_client_of_the_masters(bundle: Bundle) -> None:
    (config,) = load(kubeconfig("demo", "https://192.168.1.120:6443", bundle))
    assert config["clusters"][0]["cluster"]["server"] == "https://192.168.1.120:6443"
    client = certificate(b64decode(config["users"][0]["user"]["client-certificate-data"]).decode())
    client.verify_directly_issued_by(certificate(bundle.k8s.crt))
    assert client.subject.rfc4514_string() == "CN=admin,O=system:masters"
    assert config["current-context"] == "admin@demo"


def test_python_trusts_what_the_os_ca_signs(bundle: Bundle) -> None:
    ssl.create_default_context(cadata=bundle.os.crt)


def test_a_secrets_file_becomes_the_same_bundle(bundle: Bundle) -> None:
    assert read_secrets_yaml(dump([secrets_yaml(bundle)])) == bundle


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("cluster", "id"), None, "cluster.id is missing"),
        (("cluster", "secret"), 5, "cluster.secret must be text"),
        (("secrets", "bootstraptoken"), "", "secrets.bootstraptoken is missing"),
        (("secrets", "secretboxencryptionsecret"), None, "exactly one of secrets.secretboxencryptionsecret"),
        (("secrets", "aescbcencryptionsecret"), "x", "exactly one of secrets.secretboxencryptionsecret"),
        (("trustdinfo",), None, "trustdinfo.token is missing"),
        (("certs", "etcd"), None, "certs.etcd.crt is missing; certs.etcd.key is missing"),
        (("certs", "k8s", "key"), None, "certs.k8s.key is missing"),
        (("certs", "k8s", "crt"), "***", "certs.k8s.crt is not base64"),
        (("certs", "os", "crt"), encoded("text"), "certs.os.crt is no certificate"),
        (("certs", "k8sserviceaccount", "key"), encoded("text"), "certs.k8sserviceaccount.key is no private key"),
    ],
)
def test_what_a_secrets_file_lacks_is_said(bundle: Bundle, path: tuple[str, ...], value: Any, message: str) -> None:
    content = secrets_yaml(bundle)
    part = content
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(ConfigError, match=message):
        read_secrets_yaml(dump([content]))


def test_a_key_must_stand_under_the_header_of_its_type(bundle: Bundle) -> None:
    content = secrets_yaml(bundle)
    key = read_key(bundle.k8s.key)
    untyped = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    content["certs"]["k8s"]["key"] = encoded(untyped)
    with pytest.raises(ConfigError, match="is no private key for Talos: its PEM header"):
        read_secrets_yaml(dump([content]))


def test_all_problems_of_a_secrets_file_are_told_at_once_without_its_values(bundle: Bundle) -> None:
    content = secrets_yaml(bundle)
    content["certs"] = {"os": {"crt": "c2VjcmV0", "key": "c2VjcmV0"}}
    del content["cluster"]
    with pytest.raises(ConfigError) as caught:
        read_secrets_yaml(dump([content]))
    assert len(caught.value.problems) == 11
    assert "c2VjcmV0" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "a", "a: [", "---\na: 1\n---\nb: 1\n"])
def test_a_file_that_is_no_secrets_file_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        read_secrets_yaml(text)
