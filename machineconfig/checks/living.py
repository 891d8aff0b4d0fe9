"""Fields that are read once: what a change of them does not do to a machine or a cluster that lives."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from machineconfig.paths import MAIN, Documents
from machinery import ConfigError, parse_configuration

_MANIFESTS = "Talos creates manifests that are missing and updates none: `talosctl upgrade-k8s` or kubectl apply does"
_IDENTITY = (
    "machines with the old value and with the new one do not find each other; it must not change in a running cluster"
)
_DISK = "the machine is installed and stays where it is; this needs a reset"
_NETWORK = "what runs keeps its addresses, so the cluster would be on two networks; this needs a new cluster"
_VOLUME = "the volume is made and stays as it is; this needs a wipe of the volume"

_FIELDS: dict[tuple[str, ...], str] = {
    ("cluster", "inlineManifests"): _MANIFESTS,
    ("cluster", "extraManifests"): _MANIFESTS,
    ("cluster", "network", "cni"): _MANIFESTS,
    ("cluster", "proxy"): _MANIFESTS,
    ("cluster", "coreDNS"): _MANIFESTS,
    ("cluster", "externalCloudProvider", "manifests"): _MANIFESTS,
    ("cluster", "network", "podSubnets"): _NETWORK,
    ("cluster", "network", "serviceSubnets"): _NETWORK,
    ("cluster", "network", "dnsDomain"): "running pods keep resolving the old domain until they are recreated",
    ("cluster", "clusterName"): "existing kubeconfigs and talosconfigs keep the old name",
    ("cluster", "id"): _IDENTITY,
    ("cluster", "secret"): _IDENTITY,
    ("cluster", "ca"): "certificates of the old authority are refused at once; rotate it with `talosctl rotate-ca`",
    ("cluster", "etcd", "ca"): "a member with another authority cannot join the others; this needs a new cluster",
    ("cluster", "aggregatorCA"): "API servers with the old authority refuse the new one until all have changed",
    ("cluster", "serviceAccount"): "tokens signed with the old key are refused, those of running pods too",
    ("cluster", "secretboxEncryptionSecret"): "what etcd holds encrypted with the old key can no longer be read",
    ("cluster", "aescbcEncryptionSecret"): "what etcd holds encrypted with the old key can no longer be read",
    ("machine", "type"): "a machine keeps the role it was installed with; reset it first",
    ("machine", "ca"): "certificates of the old authority are refused at once; rotate it with `talosctl rotate-ca`",
    ("machine", "install", "disk"): _DISK,
    ("machine", "install", "diskSelector"): _DISK,
    ("machine", "install", "wipe"): _DISK,
    ("machine", "install", "legacyBIOSSupport"): _DISK,
    ("machine", "disks"): "partitions are made once; a disk that already has some is left alone",
    ("machine", "kubelet", "extraConfig", "registerWithTaints"): (
        "a node registers once, so its taints stay; set them through the Kubernetes API"
    ),
}
_SYSTEM = "VolumeConfig"
"""Volumes that a machine has whether a document speaks of them or not."""
_VOLUMES = (_SYSTEM, "UserVolumeConfig", "RawVolumeConfig", "SwapVolumeConfig")
_PARTITIONS = {"STATE": "state", "EPHEMERAL": "ephemeral"}
"""Volumes that machine.systemDiskEncryption speaks of, by its keys."""
_ENCRYPTED = "a volume is encrypted when it is made, and stays as it is; this needs a wipe: talosctl reset"
_KEYS = "Talos opens the volume with one of the keys that it has, and then takes the others: one of the old must stay"


@dataclass(frozen=True)
class ReadOnce:
    """A field that has changed and is not read again: its path, and what will not happen, or will go wrong."""

    path: str
    consequence: str

    def holds(self, place: str) -> bool:
        """Whether a place is the field or in it."""
        return place == self.path or place.startswith((f"{self.path}.", f"{self.path}["))

    def __str__(self) -> str:
        """One line; it holds no value of the configuration."""
        return f"{self.path} has changed: {self.consequence}"


def changed_bootstrap_fields(old_text: str, new_text: str) -> tuple[ReadOnce, ...]:
    """What differs between two configurations of one machine and is not read again.

    Nothing is said of a text that is no configuration: others say that better.
    """
    try:
        old, new = parse_configuration(old_text), parse_configuration(new_text)
    except ConfigError:
        return ()
    return read_once(*({document.title: document.values for document in each.documents} for each in (old, new)))


def read_once(old: Documents, new: Documents) -> tuple[ReadOnce, ...]:
    """The same of two configurations as plain values by the document's title."""
    return (*_fields(old.get(MAIN, {}), new.get(MAIN, {})), *_volumes(old, new))


def _fields(old: Any, new: Any) -> Iterator[ReadOnce]:
    for path, consequence in _FIELDS.items():
        before, after = _at(old, path), _at(new, path)
        if before != after and not (consequence == _MANIFESTS and _only_more(before, after)):
            yield ReadOnce(".".join(path), consequence)


def _at(values: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _only_more(before: Any, after: Any) -> bool:
    """Whether a list only has more entries than before: those that are new are made."""
    old, new = before or [], after or []
    return isinstance(old, list) and isinstance(new, list) and all(entry in new for entry in old)


def _volumes(old: Documents, new: Documents) -> Iterator[ReadOnce]:
    for title in dict.fromkeys((*old, *new)):
        kind, _, name = title.partition("/")
        # Another volume that is new is made as it is described, and one that is gone from the file stays.
        if kind in _VOLUMES and (kind == _SYSTEM or (title in old and title in new)):
            before, after = old.get(title) or {}, new.get(title) or {}
            for key in ("provisioning", "filesystem"):
                if _fixed(before.get(key)) != _fixed(after.get(key)):
                    yield ReadOnce(f"{title}:{key}", _VOLUME)
            if kind != _SYSTEM or name not in _PARTITIONS:
                yield from _encryption(f"{title}:encryption", name, before.get("encryption"), after.get("encryption"))
    for name in _PARTITIONS:
        (_, before), (place, after) = _of_partition(old, name), _of_partition(new, name)
        yield from _encryption(place or _of_partition(old, name)[0], name, before, after)


def _of_partition(documents: Documents, name: str) -> tuple[str, Any]:
    """The encryption of a system partition, in whichever form it is said, and where; nothing where it is not."""
    title, old = f"{_SYSTEM}/{name}", ("machine", "systemDiskEncryption", _PARTITIONS[name])
    if encryption := (documents.get(title) or {}).get("encryption"):
        return f"{title}:encryption", encryption
    encryption = _at(documents.get(MAIN, {}), old)
    return (".".join(old), encryption) if encryption else ("", None)


def _encryption(place: str, name: str, before: Any, after: Any) -> Iterator[ReadOnce]:
    """What a change of a volume's encryption does not do: the volume is made, but keys can be exchanged."""
    before, after = before or {}, after or {}
    if _apart_from_keys(before) != _apart_from_keys(after):
        label = f" --system-labels-to-wipe {name}" if name in _PARTITIONS else ""
        yield ReadOnce(place, f"{_ENCRYPTED}{label}")
    elif before.get("keys") != after.get("keys"):
        yield ReadOnce(f"{place}.keys", _KEYS)


def _apart_from_keys(encryption: Any) -> dict[str, Any]:
    return {key: value for key, value in encryption.items() if key != "keys"}


def _fixed(part: Any) -> dict[str, Any]:
    """What counts once of a part of a volume: it can grow later, up to its largest size."""
    return {key: value for key, value in (part or {}).items() if key not in ("maxSize", "grow")}
