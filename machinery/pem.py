"""PEM as Talos reads it, where the header says the key's type, and as others write it."""

import re

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
_KINDS: dict[str, type] = {
    "RSA PRIVATE KEY": rsa.RSAPrivateKey,
    "EC PRIVATE KEY": ec.EllipticCurvePrivateKey,
    "ED25519 PRIVATE KEY": ed25519.Ed25519PrivateKey,
}
_CURVES = (ec.SECP256R1, ec.SECP384R1, ec.SECP521R1)
_LEAST_BITS = 2048
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----\n.*?\n-----END \1-----", re.DOTALL)


class EncryptedKeyError(ValueError):
    """A private key that only a passphrase opens."""


def header(text: str) -> str:
    """Return what comes after BEGIN in PEM text, or nothing."""
    first = text.strip().split("\n", 1)[0].strip()
    return first[11:-5] if first.startswith("-----BEGIN ") and first.endswith("-----") else ""


def read_key(text: str) -> PrivateKey:
    """Return the private key of PEM text; raise ValueError where Talos would not read it."""
    kind = header(text)
    if kind not in _KINDS:
        raise ValueError("its PEM header must be RSA, EC or ED25519 PRIVATE KEY")
    key = _loaded(text)
    if not isinstance(key, _KINDS[kind]):
        raise ValueError("it is of another type than its PEM header says")
    return key


def write_key(key: PrivateKey) -> str:
    """Return a private key as Talos writes it: PKCS#1, SEC 1, or PKCS#8 under an Ed25519 header."""
    if isinstance(key, ed25519.Ed25519PrivateKey):
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        return text.replace("PRIVATE KEY", "ED25519 PRIVATE KEY")
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()


def key_problem(text: str) -> str:
    """Return what is wrong with a private key, or nothing."""
    try:
        read_key(text)
    except ValueError as error:
        return f"is no private key for Talos: {error}"
    return ""


def certificate_problem(text: str) -> str:
    """Return what is wrong with a certificate, or nothing."""
    if header(text) != "CERTIFICATE":
        return "is no certificate: its PEM header must be CERTIFICATE"
    try:
        x509.load_pem_x509_certificate(text.encode(errors="surrogateescape"))
    except ValueError:
        return "is no certificate: it cannot be read"
    return ""


def converted_key(text: str) -> str:
    """Return a private key that openssl or kubeadm wrote in the form that Talos reads, or the text that has it already.

    PKCS#8, curves written out, text and EC parameters around the key, and Windows's line ends are taken. Raises
    ValueError with what is wrong with any other: encrypted, too short, of a type or curve that does not serve.
    """
    blocks = [block for block in _blocks(text) if header(block) != "EC PARAMETERS"]
    keys = [block for block in blocks if header(block).endswith("PRIVATE KEY")]
    if len(keys) != 1:
        raise ValueError(f"holds {len(keys)} private keys, not one" if keys else "holds no private key in PEM form")
    if "ENCRYPTED" in keys[0]:
        raise EncryptedKeyError("is encrypted with a passphrase")
    try:
        key = _loaded(keys[0])
    except ValueError as error:
        raise ValueError(f"is no private key for Talos: {error}") from None
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size < _LEAST_BITS:
        raise ValueError(f"is an RSA key of {key.key_size} bits; {_LEAST_BITS} are the least")
    if isinstance(key, ec.EllipticCurvePrivateKey) and not isinstance(key.curve, _CURVES):
        raise ValueError(f"is on the curve {key.curve.name}; Talos takes P-256, P-384 and P-521")
    written = write_key(key)
    return text if text.strip() == written.strip() else written


def converted_certificate(text: str) -> str:
    """Return the one certificate in a PEM text, alone; raise ValueError where it holds none, or a chain."""
    found = [block for block in _blocks(text) if header(block) in ("CERTIFICATE", "X509 CERTIFICATE")]
    if not found:
        raise ValueError("is no certificate: it holds none in PEM form")
    if len(found) > 1:
        raise ValueError(f"holds {len(found)} certificates; Talos takes one CA that signed itself, and no chain")
    try:
        certificate = x509.load_pem_x509_certificate(found[0].encode())
    except ValueError:
        raise ValueError("is no certificate: it cannot be read") from None
    alone = header(found[0]) == "CERTIFICATE" and text.strip() == found[0]
    return text if alone else certificate.public_bytes(Encoding.PEM).decode()


def _blocks(text: str) -> list[str]:
    return [match.group() for match in _BLOCK.finditer(text.replace("\r\n", "\n"))]


def _loaded(text: str) -> PrivateKey:
    try:
        # Talos's Ed25519 header is over PKCS#8, which other readers expect under PRIVATE KEY.
        plain = text.replace("ED25519 PRIVATE KEY", "PRIVATE KEY")
        key = load_pem_private_key(plain.encode(errors="surrogateescape"), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ValueError("it cannot be read") from None
    if not isinstance(key, PrivateKey):
        raise ValueError("it is neither an RSA, an EC nor an Ed25519 key")
    return key
