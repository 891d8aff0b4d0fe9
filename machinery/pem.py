"""PEM as Talos reads it: the header says the key's type, and other headers are refused."""

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
_KINDS: dict[str, type] = {
    "RSA PRIVATE KEY": rsa.RSAPrivateKey,
    "EC PRIVATE KEY": ec.EllipticCurvePrivateKey,
    "ED25519 PRIVATE KEY": ed25519.Ed25519PrivateKey,
}


def header(text: str) -> str:
    """Return what stands after BEGIN in PEM text, or nothing."""
    first = text.strip().split("\n", 1)[0].strip()
    return first[11:-5] if first.startswith("-----BEGIN ") and first.endswith("-----") else ""


def read_key(text: str) -> PrivateKey:
    """Return the private key of PEM text; raise ValueError where Talos would not read it."""
    kind = header(text)
    if kind not in _KINDS:
        raise ValueError("its PEM header must be RSA, EC or ED25519 PRIVATE KEY")
    try:
        # Talos's Ed25519 header stands over PKCS#8, which other readers expect under PRIVATE KEY.
        plain = text.replace("ED25519 PRIVATE KEY", "PRIVATE KEY")
        key = load_pem_private_key(plain.encode(), None)
    except (ValueError, TypeError) as error:
        raise ValueError("it cannot be read") from error
    if not isinstance(key, _KINDS[kind]) or not isinstance(key, PrivateKey):
        raise ValueError("it is of another type than its PEM header says")
    return key


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
        x509.load_pem_x509_certificate(text.encode())
    except ValueError:
        return "is no certificate: it cannot be read"
    return ""


def write_key(key: PrivateKey) -> str:
    """Return a private key as Talos writes it: PKCS#1, SEC 1, or PKCS#8 under an Ed25519 header."""
    if isinstance(key, ed25519.Ed25519PrivateKey):
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        return text.replace("PRIVATE KEY", "ED25519 PRIVATE KEY")
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()


__all__ = ["PrivateKey", "certificate_problem", "header", "key_problem", "read_key", "write_key"]
