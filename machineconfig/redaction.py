"""What may be shown of a configuration; all else is compared and stays unseen.

Of what the files say, everything may be shown but what they ask for as a secret, and what is in clear and is one by
its place or its looks. Placeholders tell exactly what was asked for, because a template cannot change one.

Of what a machine runs with, nobody knows where it came from: a patch or a secret that is gone. So of that, only public
places are shown: fields that hold numbers, flags, addresses, sizes or one of a few words by Talos's structure tables,
and some more whose text the topology or the kernel decides. Text that the files say too is shown as well.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

from machineconfig.paths import MAIN, Documents, Path, leaves
from machineconfig.placeholder import all_shown, holds_mark, type_below
from machineconfig.trace import MISSING
from machinery.structure import DOCUMENTS, V1ALPHA1, Scalar, Type

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

Place = tuple[str, Path]
"""A document's title and a path in it: of a value, or of a map or document that is redacted as a whole."""

_KEYS = frozenset(("key", "auth", "token", "secret", "psk"))
_WORD = r"secret|(?<!by)pass(?:word|wd|phrase)?(?![a-z])|token|credential|private[-_.]?key|preshared|api[-_.]?key"
_WORDS = re.compile(_WORD, re.I)
_BRANCHES = frozenset(("auth", "environment"))
"""Keys below which everything is hidden."""
_NAMED = frozenset(("auth", "identitytoken", "passphrase", "password", "presharedkey", "privatekey", "psk"))
"""Keys of Talos, in small letters, whose text is a secret whatever it looks like."""
_IDENTITY = ("clientIdentity", "key")
_LOOKS = (
    re.compile(r"-----BEGIN "),
    re.compile(r"://[^/@\s]+@"),
    re.compile(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b"),
    re.compile(rf"(?:{_WORD})[\w.-]*[\"']?\s*[:=]\s*\S", re.I),
)
"""A PEM, a user in an address, a token of kubeadm, a secret with its name inside a text."""
_DIGEST = re.compile(r"\b[0-9a-f]{32,}\b")
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_LEAST = 4
"""Characters of a secret that is looked for in other text: less is in everything."""
_FREE = frozenset(("string", "arg", "base64", "cel", "url"))
"""Scalars of the structure tables that take any text."""
_PUBLIC_TEXTS = """
    machine.type machine.install.disk machine.install.image machine.install.diskSelector.busPath
    machine.install.diskSelector.type machine.kubelet.image machine.kubelet.nodeIP.validSubnets.*
    machine.network.hostname machine.network.nameservers.* machine.network.interfaces.*.interface
    machine.network.interfaces.*.addresses.* machine.network.interfaces.*.vip.ip
    machine.network.interfaces.*.routes.*.network machine.network.interfaces.*.routes.*.gateway
    machine.network.interfaces.*.vlans.*.addresses.* machine.network.interfaces.*.vlans.*.vip.ip
    machine.network.interfaces.*.bond.interfaces.* machine.network.interfaces.*.bond.mode
    machine.network.interfaces.*.bond.lacpRate machine.network.interfaces.*.bond.xmitHashPolicy
    machine.network.interfaces.*.bond.primary machine.network.interfaces.*.deviceSelector.busPath
    machine.network.interfaces.*.deviceSelector.driver
    cluster.clusterName cluster.controlPlane.endpoint cluster.network.dnsDomain cluster.network.podSubnets.*
    cluster.network.serviceSubnets.* cluster.network.cni.name cluster.proxy.mode cluster.proxy.image
    cluster.etcd.image cluster.etcd.advertisedSubnets.* cluster.etcd.listenSubnets.*
    cluster.apiServer.image cluster.controllerManager.image cluster.scheduler.image"""
"""Text in the main document whose form Talos, the topology or the kernel decides."""
_PUBLIC = frozenset(tuple(path.split(".")) for path in _PUBLIC_TEXTS.split())
_OF_EVERY_DOCUMENT = frozenset(("apiVersion", "kind", "name", "hostname"))


@dataclass(frozen=True, eq=False)
class Redacted:
    """A value that is compared and not shown. `certain`: it is known to be secret, and not just not known."""

    value: Any = field(repr=False)
    certain: bool = True

    def __eq__(self, other: object) -> bool:
        """Compare the values."""
        return bool(self.value == opened(other))

    def __hash__(self) -> int:
        """Refuse: values of a configuration are no keys."""
        raise TypeError("a redacted value is no key")

    def __str__(self) -> str:
        """Say why there is nothing to see."""
        return "(secret)" if self.certain else "(not shown)"


def opened(value: Any) -> Any:
    """The value itself, for comparing it."""
    return value.value if isinstance(value, Redacted) else value


def secret_places(documents: Documents, open_documents: Documents | None) -> frozenset[Place]:
    """The places of what comes from a secret in a configuration from files.

    `open_documents` are the same with placeholders for all secrets; they may be the documents themselves. Where they
    could not be made (None), everything may come from a secret.
    """
    if open_documents is None:
        return frozenset((title, ()) for title in documents)
    return _places(documents, open_documents, lambda text: all_shown(text) != text)


def _places(documents: Documents, others: Documents, is_secret: Callable[[str], bool]) -> frozenset[Place]:
    found: set[Place] = set()
    for title, values in documents.items():
        if is_secret(title):
            found.add((title, ()))
        else:
            found.update((title, path) for path in _from_secrets((), values, others.get(title, MISSING), is_secret))
    return frozenset(found)


def marked_places(documents: Documents) -> frozenset[Place]:
    """The same of a configuration that was written with a mark in the place of each secret."""
    return _places(documents, documents, holds_mark)


def of_files(documents: Documents, places: Collection[Place]) -> Documents:
    """A configuration from files as it may be shown; `places` are those of its secrets."""
    clear = ((title, path) for title, path, value in _all(documents) if looks_secret(path, value))
    return _redacted(documents, dict.fromkeys((*places, *clear), True))


def of_machine(live: Documents, ours: Documents, known: Iterable[str] = ()) -> Documents:
    """What a machine runs with as it may be shown; `ours` is what it would get, redacted, `known` the stack's secrets.

    Beside a secret of ours nothing of the machine's is shown, in a list neither.
    """
    holds = _Known(known)
    machine = _Machine(ours, holds)
    places: dict[Place, bool] = {}
    for title, path, value in _all(live):
        judged = machine.judge(title, path, value)
        if judged is not None:
            place, certain = judged
            places[place] = certain
    return _redacted(live, places)


class _Known:
    """Tells whether a text holds one of some secrets, or is a part of one."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = {secret for secret in secrets if len(secret) >= _LEAST}

    def __call__(self, value: object) -> bool:
        text = str(value)
        return any(each in text or (len(text) >= _LEAST and text in each) for each in self._secrets)


class _Machine:
    """Judges the values of a machine beside what it would get."""

    def __init__(self, ours: Documents, holds: Callable[[object], bool]) -> None:
        self._holds = holds
        everything = [*_all(ours)]
        secret = {(title, general(path)) for title, path, value in everything if isinstance(value, Redacted)}
        self._secret = secret
        self._around = {(title, path[:length]) for title, path in secret for length in range(len(path) + 1)}
        self._said = {value for _, _, value in everything if isinstance(value, str)}
        self._places = {(title, general(path[:at])) for title, path, _ in everything for at in range(len(path) + 1)}
        self._kinds = {kind_of(title) for title, values in ours.items() if isinstance(values, Redacted)}

    def judge(self, title: str, path: Path, value: Any) -> tuple[Place, bool] | None:
        """The place to redact, and whether it is known to be secret; None for what may be shown."""
        kind, _, name = title.partition("/")
        if (title, ()) not in self._places and (kind in self._kinds or self._holds(name)):
            return (title, ()), True
        for at, part in enumerate(path):
            is_new = isinstance(part, str) and (title, general(path[: at + 1])) not in self._places
            if is_new and self._holds(part):  # a secret is the key: the map is redacted as a whole
                return (title, path[:at]), True
        if self._is_beside_a_secret(title, general(path)) or looks_secret(path, value):
            return (title, path), True
        if not isinstance(value, str | int | float) or isinstance(value, bool) or value in self._said:
            return None
        if self._holds(value):
            return (title, path), True
        return None if is_public(title, general(path)) else ((title, path), False)

    def _is_beside_a_secret(self, title: str, place: Path) -> bool:
        return (title, place) in self._around or any((title, place[:at]) in self._secret for at in range(len(place)))


@lru_cache(maxsize=4096)
def is_public(title: str, path: Path) -> bool:
    """Whether a place never holds a secret; list entries in `path` are `*`."""
    main = title == MAIN
    if (main and path in _PUBLIC) or (not main and len(path) == 1 and path[0] in _OF_EVERY_DOCUMENT):
        return True
    kind: Type | None = V1ALPHA1 if main else DOCUMENTS.get(kind_of(title))
    for part in path:
        kind = type_below(kind, part)
    return isinstance(kind, Scalar) and kind.name not in _FREE


def looks_secret(path: Path, value: object) -> bool:
    """Whether a value in clear is not to be shown: its place is one for secrets, or it looks like one."""
    keys = [part for part in path if isinstance(part, str)]
    last = keys[-1] if keys else ""
    if is_machines(path) or last in _KEYS or _WORDS.search(last) or _BRANCHES & set(keys):
        return True
    if isinstance(value, dict):
        return any(looks_secret((key,), item) for key, item in value.items())
    if isinstance(value, list):
        return any(looks_secret((), item) for item in value)
    return isinstance(value, str) and _looks_like_one(value)


def is_machines(path: Path) -> bool:
    """Whether a place of the main document is that of a machine secret, or in it."""
    return any(path[: len(place)] == place for place in IN_BUNDLE)


def is_named_secret(path: Path) -> bool:
    """Whether the key alone says that a text is a secret; arguments of programs have keys that are not Talos's."""
    keys = [part for part in path if isinstance(part, str)]
    named = bool(keys) and (keys[-1].lower() in _NAMED or tuple(keys[-2:]) == _IDENTITY)
    return named and "extraArgs" not in keys


def kind_of(title: str) -> str:
    """A document's title without its name."""
    return title.partition("/")[0]


def general(path: Path) -> Path:
    """A path without the numbers of list entries: entries move."""
    return tuple("*" if isinstance(part, int) else part for part in path)


def _all(documents: Documents) -> Iterator[tuple[str, Path, Any]]:
    for title, values in documents.items():
        for path, value in leaves(values):
            yield title, path, value


def _from_secrets(path: Path, value: Any, other: Any, is_secret: Callable[[str], bool]) -> Iterator[Path]:
    if isinstance(value, dict) and value:
        if not isinstance(other, dict) or value.keys() - other.keys() or any(map(is_secret, value)):
            yield path  # keys that are not the same are secrets themselves
            return
        for key, item in value.items():
            yield from _from_secrets((*path, key), item, other[key], is_secret)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            there = other[index] if isinstance(other, list) and index < len(other) else MISSING
            yield from _from_secrets((*path, index), item, there, is_secret)
    elif type(other) is not type(value) or other != value or (isinstance(value, str) and is_secret(value)):
        yield path


def _redacted(documents: Documents, places: Mapping[Place, bool]) -> Documents:
    """The documents with values at some places redacted. A document that is redacted loses its name too."""
    shown: dict[str, Any] = {}
    for title, values in documents.items():
        below = {path: sure for (at, path), sure in places.items() if at == title}
        name = f"{kind_of(title)}/(secret {len(shown)})" if () in below and title != MAIN else title
        shown[name] = _redacted_below((), values, below) if below else values
    return shown


def _redacted_below(path: Path, value: Any, places: Mapping[Path, bool]) -> Any:
    if path in places:
        return Redacted(value, places[path])
    if isinstance(value, dict):
        return {key: _redacted_below((*path, key), item, places) for key, item in value.items()}
    if isinstance(value, list):
        return [_redacted_below((*path, index), item, places) for index, item in enumerate(value)]
    return value


def _looks_like_one(text: str) -> bool:
    if any(form.search(text) for form in _LOOKS):
        return True
    return any(_is_encoded(found.group()) for found in _ENCODED.finditer(_DIGEST.sub("", text)))


def _is_encoded(run: str) -> bool:
    """Tell base64 from paths and names, which people need to read: its case changes all the time."""
    kinds = ["0" if c.isdigit() else "A" if c.isupper() else "a" for c in run if c.isalnum()]
    return sum(left != right for left, right in pairwise(kinds)) > len(run) // 3
