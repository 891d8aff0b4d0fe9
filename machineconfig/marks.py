"""Placeholders for secrets, so that a whole configuration can be made without any, and the marks shown in their place.

A placeholder has the form of what it stands for (a key is a key, base64 is base64), so Talos's machinery takes it. A
mark says what belongs there: `<certs.os.key>`, `<secret registryPassword>`.
"""

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import Any, TypeVar

from machineconfig.model import mark
from machinery import Bundle, KeyPair, generate_secrets

T = TypeVar("T")
_PAIRS = {
    "etcd": "etcd",
    "k8s": "k8s",
    "k8s_aggregator": "k8saggregator",
    "k8s_service_account": "k8sserviceaccount",
    "os": "os",
}
_TEXTS = {
    "cluster_id": "cluster.id",
    "cluster_secret": "cluster.secret",
    "bootstrap_token": "secrets.bootstraptoken",
    "trustd_token": "trustdinfo.token",
    "secretbox_encryption_secret": "secrets.secretboxencryptionsecret",
    "aescbc_encryption_secret": "secrets.aescbcencryptionsecret",
}
_OPTIONAL = ("secretbox_encryption_secret", "aescbc_encryption_secret")
_QUICK = "v1.6"
"""The newest contract whose service account key is not RSA, which takes seconds to make."""


VARIANTS = (0, 1)
"""The sets of placeholders. What is not the same with both depends on a secret."""
_NEXT = str.maketrans(
    ascii_letters + digits, ascii_lowercase[1:] + "a" + ascii_uppercase[1:] + "A" + digits[1:] + digits[0]
)


@lru_cache(maxsize=len(VARIANTS))
def placeholder_bundle(variant: int = 0) -> Bundle:
    """The secrets of a cluster that does not exist, for each variant the same for the whole process."""
    return generate_secrets(_QUICK)


def twin_bundle(bundle: Bundle, variant: int) -> Bundle:
    """Placeholders in place of a bundle's secrets, of the same shape: what is empty in it stays empty."""
    made = placeholder_bundle(variant)
    texts: dict[str, Any] = {
        name: getattr(bundle, name) and (getattr(made, name) or made.cluster_secret) for name in _OPTIONAL
    }
    return replace(made, **texts)


def placeholder(name: str, variant: int = 0) -> str:
    """What stands for `secret(name)` while a configuration is made: letters and digits that are also valid base64.

    Variants have no character in common at any place, in capitals neither, so that no part of one passes for another's.
    """
    text = f"secret-{name.encode().hex()}"
    made = base64.b64encode(text.ljust(-(-len(text) // 3) * 3, "-").encode()).decode()
    return made.translate(_NEXT) if variant else made


@dataclass(frozen=True)
class Mask:
    """Puts marks in the place of values. It holds the values, so its representation shows none."""

    marks: Mapping[str, str] = field(repr=False)
    """From each value as it stands in a configuration to its mark, the longest first."""

    def text(self, text: str) -> str:
        """A text with every value in it replaced."""
        for value, shown in self.marks.items():
            if value in text:
                text = text.replace(value, shown)
        return text

    def value(self, value: T) -> T:
        """Plain values, all the way down, with every text masked."""
        if isinstance(value, str):
            return self.text(value)  # type: ignore[return-value]
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}  # type: ignore[return-value]
        if isinstance(value, list):
            return [self.value(item) for item in value]  # type: ignore[return-value]
        return value

    def hides(self, value: object) -> bool:
        """Whether a scalar holds any of the values."""
        return isinstance(value, str) and any(known in value for known in self.marks)


def mask(bundle: Bundle, names: Iterable[str], secret: Callable[[str], str] = placeholder) -> Mask:
    """The mask for a cluster's secrets and for those that patches ask for by name."""
    marks = dict(_in_configuration(bundle)) | {value: mark(name) for name in names if (value := secret(name))}
    return Mask(dict(sorted(marks.items(), key=lambda pair: -len(pair[0]))))


def _in_configuration(bundle: Bundle) -> Iterable[tuple[str, str]]:
    for attribute, name in _PAIRS.items():
        pair: KeyPair = getattr(bundle, attribute)
        for part, pem in (("crt", pair.crt), ("key", pair.key)):
            if pem:
                yield base64.b64encode(pem.encode()).decode(), f"<certs.{name}.{part}>"
    for attribute, name in _TEXTS.items():
        if value := str(getattr(bundle, attribute)):
            yield value, f"<{name}>"
