import os
import ssl
import tempfile
from pathlib import Path

import pytest

from talosapi import Credentials, CredentialsError, tls
from tests.talosapi.pki import Authority


def test_talos_ed25519_keys_load_into_openssl() -> None:
    authority = Authority()
    person = authority.client()
    assert b"ED25519 PRIVATE KEY" in person.key
    context = Credentials(authority.pem, person.crt, person.key).context()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_the_representation_of_credentials_shows_nothing() -> None:
    assert repr(Credentials(b"ca", b"crt", b"key")) == "Credentials()"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("ca", "the CA is not a certificate in PEM form"),
        ("leaf as ca", "the CA is not the certificate of a CA"),
        ("key", "the certificate or its private key is not in PEM form, or is encrypted"),
        ("pair", "the certificate does not belong to the private key"),
    ],
)
def test_unusable_credentials_are_refused_without_showing_them(fault: str, message: str) -> None:
    authority = Authority()
    person = authority.client()
    faulty = {
        "ca": Credentials(b"TOPSECRET", person.crt, person.key),
        "leaf as ca": Credentials(person.crt, person.crt, person.key),
        "key": Credentials(authority.pem, person.crt, b"TOPSECRET"),
        "pair": Credentials(authority.pem, person.crt, authority.client().key),
    }[fault]
    with pytest.raises(CredentialsError) as caught:
        faulty.context()
    assert str(caught.value) == message


def test_an_encrypted_key_does_not_make_openssl_ask_the_terminal() -> None:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

    key = generate_private_key(SECP256R1()).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"password")
    )
    authority = Authority()
    with pytest.raises(CredentialsError, match="or is encrypted"):
        Credentials(authority.pem, authority.client().crt, key).context()


def test_no_key_stays_on_the_disk_where_there_are_no_files_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    modes: list[int] = []
    load = ssl.SSLContext.load_cert_chain

    class Looking(ssl.SSLContext):
        def load_cert_chain(self, certfile, *rest, **options) -> None:  # type: ignore[no-untyped-def]
            modes.append(Path(certfile).stat().st_mode & 0o777)
            load(self, certfile, *rest, **options)

    authority = Authority()
    person = authority.client()
    tls.load_identity(Looking(ssl.PROTOCOL_TLS_CLIENT), person.crt, person.key)
    assert modes == [0o600]
    assert list(tmp_path.iterdir()) == []
