"""Which values of a configuration must not be shown, also where nobody knows the secret that may be in them.

A machine can run with a secret that is no longer in the stack. So a value is hidden when it holds a known secret, when
its place is one for secrets, or when it looks like one.
"""

import re
from itertools import pairwise

from machineconfig.marks import Mask
from machineconfig.paths import Path

IN_BUNDLE: dict[tuple[str, ...], str] = {
    ("machine", "token"): "trustdinfo.token",
    ("machine", "ca"): "certs.os",
    ("cluster", "id"): "cluster.id",
    ("cluster", "secret"): "cluster.secret",
    ("cluster", "token"): "secrets.bootstraptoken",
    ("cluster", "ca"): "certs.k8s",
    ("cluster", "aggregatorCA"): "certs.k8saggregator",
    ("cluster", "serviceAccount"): "certs.k8sserviceaccount",
    ("cluster", "secretboxEncryptionSecret"): "secrets.secretboxencryptionsecret",
    ("cluster", "aescbcEncryptionSecret"): "secrets.aescbcencryptionsecret",
    ("cluster", "etcd", "ca"): "certs.etcd",
}
"""Places of machine secrets, and where a secrets.yaml has each. Accepted CAs are none: they come on top of the own."""

_KEYS = frozenset(("key", "auth", "token", "secret", "psk"))
_WORD = r"secret|(?<!by)pass(?:word|wd|phrase)?(?![a-z])|token|credential|private[-_.]?key|preshared|api[-_.]?key"
_WORDS = re.compile(_WORD, re.I)
_ASSIGNED = re.compile(rf"(?:{_WORD})[\w.-]*[\"']?\s*[:=]\s*\S", re.I)
"""A secret with its name inside a text: an argument, a query, a piece of JSON."""
_BRANCHES = frozenset(("auth", "environment"))
"""Keys below which everything is hidden."""
_NAMED = frozenset(("auth", "identitytoken", "passphrase", "password", "presharedkey", "privatekey", "psk"))
"""Keys of Talos, in small letters, whose text is a secret whatever it looks like."""
_IDENTITY = ("clientIdentity", "key")
_NOTHING_KNOWN = Mask({})
_LEAST, _MOST = 4, 200
"""Characters: less says nothing, and in more there is everything."""
_PEM = re.compile(r"-----BEGIN ")
_USER = re.compile(r"://[^/@\s]+@")
_TOKEN = re.compile(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b")
_DIGEST = re.compile(r"\b[0-9a-f]{32,}\b")
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")


def looks_secret(path: Path, value: object) -> bool:
    """Whether what a patch says at a place is not to be quoted, though no secret of the stack is in it."""
    return any(path[: len(place)] == place for place in IN_BUNDLE) or is_secret(path, (value,), _NOTHING_KNOWN)


def is_named_secret(path: Path) -> bool:
    """Whether the key alone says that a text is a secret; arguments of programs have keys that are not Talos's."""
    keys = [part for part in path if isinstance(part, str)]
    named = bool(keys) and (keys[-1].lower() in _NAMED or tuple(keys[-2:]) == _IDENTITY)
    return named and "extraArgs" not in keys


def is_secret(path: Path, values: tuple[object, ...], mask: Mask) -> bool:
    """Whether the values at a place are to be hidden."""
    keys = [part for part in path if isinstance(part, str)]
    last = keys[-1] if keys else ""
    if last in _KEYS or _WORDS.search(last) or _BRANCHES & set(keys):
        return True
    return any(_holds(value, mask) for value in values)


def derives(text: str, mask: Mask) -> bool:
    """Whether a text can be made from a known secret: in it, or part of it, in small letters or capitals."""
    folded = text.casefold()
    known = (value.casefold() for value in mask.marks if len(value) >= _LEAST)
    return any(
        value in folded or (len(folded) >= _LEAST and len(value) <= _MOST and folded in value) for value in known
    )


def _holds(value: object, mask: Mask) -> bool:
    if isinstance(value, dict):
        return any(is_secret((key,), (item,), mask) for key, item in value.items())
    if isinstance(value, list):
        return any(_holds(item, mask) for item in value)
    return isinstance(value, str) and (mask.hides(value) or _looks_like_one(value))


def _looks_like_one(text: str) -> bool:
    if any(form.search(text) for form in (_PEM, _USER, _TOKEN, _ASSIGNED)):
        return True
    return any(_is_encoded(found.group()) for found in _ENCODED.finditer(_DIGEST.sub("", text)))


def _is_encoded(run: str) -> bool:
    """Tell base64 from paths and names, which people need to read: its case changes all the time."""
    kinds = ["0" if c.isdigit() else "A" if c.isupper() else "a" for c in run if c.isalnum()]
    return sum(left != right for left, right in pairwise(kinds)) > len(run) // 3
