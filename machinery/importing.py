"""Secrets from elsewhere: read with care, brought into the form that Talos reads, refused where they cannot serve."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from findings import Finding, FindingsError, Place
from machinery.authority import authority_problems, ends_soon
from machinery.errors import ConfigError, NotYamlError
from machinery.pem import EncryptedKeyError, converted_certificate, converted_key, header
from machinery.problems import Problem
from machinery.secrets import KEY_ALONE, PAIRS, TEXTS, Bundle, KeyPair, read_tree, secrets_document

_MAKE = "make the file with `talosctl gen secrets`"
_TOKEN = re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}")
_BYTES = 32
"""Behind the base64 of the cluster's secret and of the key for encryption at rest."""


class RefusedSecrets(FindingsError):  # noqa: N818 - the secrets are what is refused
    """Secrets that cannot be imported, with everything that is wrong with them and without any of their values."""


@dataclass(frozen=True)
class Imported:
    """Secrets that can be imported."""

    bundle: Bundle = field(repr=False)
    is_converted: bool
    """Whether the file has anything in a form that Talos does not read."""
    ending: tuple[tuple[str, datetime], ...]
    """The CAs that end within a year, by their place, with their ends."""


def import_secrets_yaml(text: str, now: datetime | None = None) -> Imported:
    """Return the secrets of a secrets.yaml, whose contents may be of any origin; raise RefusedSecrets with every fault.

    Everything that is asked of a kubeadm PKI is asked of it: each CA is one, signed itself, is in date and fits its
    key; keys are strong enough and not encrypted; tokens have their form.
    """
    try:
        document = secrets_document(text)
    except NotYamlError as error:  # the parser's words can quote the text
        line = error.problems[0].line
        raise RefusedSecrets(
            [_refusal("", f"this is not YAML{'' if line is None else f' (line {line})'}", _MAKE)]
        ) from None
    except ConfigError as error:
        raise RefusedSecrets(_refusal("", str(each), _MAKE) for each in error.problems) from None
    if "sops" in document:
        raise RefusedSecrets([_refusal("", "is encrypted by SOPS", "decrypt it: `sops decrypt`")])
    problems: list[Problem] = []
    given = read_tree(document, problems)
    refusals = [_refusal("", each.message, _MAKE) for each in problems]
    pairs: dict[str, Any] = {name: _pair(name, getattr(given, name), refusals) for name in PAIRS}
    bundle = replace(given, **pairs)
    refusals += _text_refusals(bundle)
    for attribute in PAIRS:
        refusals += _pair_refusals(attribute, getattr(bundle, attribute), now)
    if refusals:
        raise RefusedSecrets(refusals)
    ends = ((f"certs.{PAIRS[each]}.crt", ends_soon(getattr(bundle, each), now)) for each in PAIRS if each != KEY_ALONE)
    return Imported(bundle, bundle != given, tuple((place, end) for place, end in ends if end))


def _refusal(place: str, message: str, cure: str) -> Finding:
    """What is wrong at a place such as `certs.k8s.key`, or with the file as a whole."""
    return Finding(Place("secrets.yaml"), f"{place} {message}".strip(), cure)


def _pair(attribute: str, given: KeyPair, refusals: list[Finding]) -> KeyPair:
    def taken(part: str, convert: Callable[[str], str]) -> str:
        text: str = getattr(given, part)
        try:
            return convert(text) if text else ""
        except ValueError as error:
            cure = (
                "decrypt it" if isinstance(error, EncryptedKeyError) else "take the PEM file of the CA as it was made"
            )
            refusals.append(_refusal(f"certs.{PAIRS[attribute]}.{part}", str(error), cure))
            return ""

    return KeyPair(taken("crt", converted_certificate), taken("key", converted_key))


def _pair_refusals(attribute: str, pair: KeyPair, now: datetime | None) -> Iterator[Finding]:
    where = f"certs.{PAIRS[attribute]}"
    if not pair.key or not (pair.crt or attribute == KEY_ALONE):
        return
    if attribute != KEY_ALONE:
        yield from (_refusal(f"{where}.crt", problem, cure) for problem, cure in authority_problems(pair, now))
    elif header(pair.key).startswith("ED25519"):  # reading a long RSA key again would double the time
        cure = "take the key that signs the tokens of the cluster, sa.key"
        yield _refusal(f"{where}.key", "is an Ed25519 key, with which Kubernetes signs no tokens", cure)


def _text_refusals(bundle: Bundle) -> Iterator[Finding]:
    if bundle.bootstrap_token and not _TOKEN.fullmatch(bundle.bootstrap_token):
        message = "is no bootstrap token: six characters, a dot and sixteen more, all of a-z and 0-9"
        yield _refusal("secrets.bootstraptoken", message, "make one with `kubeadm token generate`")
    for attribute in ("cluster_secret", "secretbox_encryption_secret"):
        if (value := getattr(bundle, attribute)) and not _is_long_enough(value):
            message, cure = f"is not base64 of {_BYTES} bytes", "copy it as it is where it is in use"
            yield _refusal(".".join(TEXTS[attribute]), message, cure)
    if bundle.secretbox_encryption_secret and bundle.aescbc_encryption_secret:
        message = "is given as well as secrets.secretboxencryptionsecret, and Talos takes one of the two"
        yield _refusal("secrets.aescbcencryptionsecret", message, _MIGRATE)
    elif bundle.aescbc_encryption_secret:
        message = "is the only key for encryption at rest, and Talos writes none of its kind into a configuration"
        yield _refusal("secrets.aescbcencryptionsecret", message, _MIGRATE)
    elif not bundle.secretbox_encryption_secret:
        cure = "make one with `head -c 32 /dev/urandom | base64`"
        yield _refusal("secrets.secretboxencryptionsecret", "is missing", cure)


_MIGRATE = (
    "put a secretboxencryptionsecret in its place, and give the API servers the old key, by which they read what is"
    ' encrypted with it, in a patch: cluster.aescbcEncryptionSecret: {{ secret("...") | flow }}'
)


def _is_long_enough(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == _BYTES
    except (binascii.Error, ValueError):
        return False
