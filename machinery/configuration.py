"""A machine configuration as a machine gets it: read strictly, with access to what a machine needs of it."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from machinery.contract import NEWEST_MACHINE, release_of
from machinery.documents import V1ALPHA1_KIND, Document, check_together, read_documents, write_documents
from machinery.errors import ConfigError
from machinery.secrets import KeyPair
from machinery.structure import Release
from machinery.urls import go_url
from machinery.yaml import compose

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Configuration:
    """The documents of one machine. Values are plain; what is unset is absent."""

    documents: tuple[Document, ...] = field(repr=False)
    release: Release

    @property
    def v1alpha1(self) -> Mapping[str, Any]:
        """The values of the v1alpha1 document, empty without one."""
        return next((document.values for document in self.documents if document.kind == V1ALPHA1_KIND), _EMPTY)

    def find(self, *path: str) -> Any:
        """Return a value of the v1alpha1 document, or None: `find("machine", "network", "hostname")`."""
        value: Any = self.v1alpha1
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def of_kind(self, kind: str) -> tuple[Document, ...]:
        """Return the typed documents of a kind."""
        return tuple(document for document in self.documents if document.kind == kind)

    @property
    def complete(self) -> bool:
        """Whether it is enough to boot with: it has a v1alpha1 document."""
        return any(document.kind == V1ALPHA1_KIND for document in self.documents)

    @property
    def machine_type(self) -> str:
        """`controlplane` or `worker`; `join` and nothing mean worker, `init` a control plane."""
        kind = self.find("machine", "type") or "worker"
        return {"init": "controlplane", "join": "worker"}.get(kind, str(kind))

    @property
    def cluster_name(self) -> str:
        """The cluster's name."""
        return str(self.find("cluster", "clusterName") or "")

    @property
    def endpoint(self) -> str:
        """The cluster's endpoint, a URL."""
        return str(self.find("cluster", "controlPlane", "endpoint") or "")

    @property
    def hostname(self) -> str:
        """The static host name, from the HostnameConfig document or from machine.network, or nothing."""
        for document in self.of_kind("HostnameConfig"):
            return str(document.values.get("hostname", ""))
        return str(self.find("machine", "network", "hostname") or "")

    @property
    def install_image(self) -> str:
        """The installer's image."""
        return str(self.find("machine", "install", "image") or "")

    @property
    def vip(self) -> str:
        """The shared address of the control planes, from a Layer2VIPConfig or from interfaces, or nothing."""
        for document in self.of_kind("Layer2VIPConfig"):
            return document.name
        for device in self.find("machine", "network", "interfaces") or ():
            for part in (device, *device.get("vlans", ())):
                if address := (part.get("vip") or {}).get("ip"):
                    return str(address)
        return ""

    def key_pair(self, *path: str) -> KeyPair:
        """Return a certificate and key as PEM text, empty where unset: `key_pair("machine", "ca")`."""
        pair = self.find(*path) or {}
        return KeyPair(_decoded(pair.get("crt", "")), _decoded(pair.get("key", "")))

    @property
    def endpoint_host(self) -> str:
        """The host of the endpoint."""
        return go_url(self.endpoint).hostname

    @property
    def text(self) -> str:
        """The configuration written again."""
        return write_documents(list(self.documents), self.release)


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode("utf-8", "replace")


def parse_configuration(text: str, talos_version: str = "", *, lenient: bool = False) -> Configuration:
    """Return a configuration as a machine of a Talos version reads it (the newest known, when none is given).

    Raises ConfigError for text that is not YAML, unknown kinds and keys, wrong types, duplicate keys and documents,
    and for nothing at all. A `lenient` reader leaves out unknown keys and wrong types.
    """
    release = release_of(talos_version) if talos_version else NEWEST_MACHINE
    documents = read_documents(compose(text), release, lenient=lenient)
    if not documents:
        raise ConfigError("there is no configuration in the text")
    check_together(documents)
    return Configuration(tuple(documents), release)
