"""What a machine reads in its configuration: typed, from documents that were checked already."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from lab.machine import links
from lab.machine.documents import Document, authority, secrets_in, section
from lab.machine.pki import Authority, fingerprint


@dataclass(frozen=True, repr=False)
class Settings:
    """One configuration as the machine's services see it. Owns no text; ``repr`` shows nothing of it."""

    documents: tuple[Document, ...]

    @cached_property
    def machine(self) -> Document:
        """The ``machine`` section."""
        return section(self._v1alpha1.get("machine"))

    @cached_property
    def cluster(self) -> Document:
        """The ``cluster`` section."""
        return section(self._v1alpha1.get("cluster"))

    @property
    def complete(self) -> bool:
        """Whether a machine can boot with it: it has a v1alpha1 document."""
        return bool(self._v1alpha1)

    @property
    def role(self) -> str:
        """``controlplane`` or ``worker``; Talos's old ``init`` is a control plane."""
        kind = str(self.machine.get("type", "worker"))
        return "controlplane" if kind in ("controlplane", "init") else "worker"

    @property
    def is_control_plane(self) -> bool:
        """Whether etcd and the API server run here."""
        return self.role == "controlplane"

    @cached_property
    def hostname(self) -> str | None:
        """The static host name, from either of its two places."""
        static = section(self.machine.get("network")).get("hostname")
        named = (document.get("hostname") for document in self.kind("HostnameConfig"))
        return next((str(name) for name in (static, *named) if name), None)

    @cached_property
    def os_ca(self) -> Authority:
        """The authority of the machine API."""
        return authority(self.machine.get("ca"))

    @cached_property
    def accepted_cas(self) -> bytes:
        """Every authority whose clients the machine API accepts, PEM."""
        accepted = (authority(entry).crt for entry in self.machine.get("acceptedCAs") or ())
        return b"\n".join([self.os_ca.crt, *accepted])

    @cached_property
    def etcd_ca(self) -> Authority:
        """The authority of etcd; only control planes have it."""
        return authority(section(self.cluster.get("etcd")).get("ca"))

    @cached_property
    def kubernetes_ca(self) -> Authority:
        """The authority of Kubernetes."""
        return authority(self.cluster.get("ca"))

    @cached_property
    def cluster_key(self) -> str:
        """A public name for the cluster this machine belongs to: its id and its authority."""
        return f"{self.cluster_name}-{fingerprint(self.os_ca.crt)}" if self.os_ca.crt else self.cluster_name

    @property
    def cluster_name(self) -> str:
        """The cluster's name."""
        return str(self.cluster.get("clusterName") or "cluster")

    @property
    def token(self) -> str:
        """The token with which a worker asks trustd for its certificate."""
        return str(self.machine.get("token", ""))

    @cached_property
    def endpoint(self) -> tuple[str, int]:
        """Host and port of the Kubernetes API as everybody reaches it."""
        url = urlsplit(self.endpoint_url)
        return url.hostname or "", url.port or 443

    @property
    def endpoint_url(self) -> str:
        """The Kubernetes API as everybody reaches it, a URL."""
        return str(section(self.cluster.get("controlPlane")).get("endpoint", ""))

    @cached_property
    def cert_sans(self) -> tuple[str, ...]:
        """Extra names in the machine API's certificate."""
        return tuple(str(name) for name in self.machine.get("certSANs") or ())

    @cached_property
    def api_sans(self) -> tuple[str, ...]:
        """Extra names in the API server's certificate."""
        return tuple(str(name) for name in section(self.cluster.get("apiServer")).get("certSANs") or ())

    @property
    def installer(self) -> str:
        """The installer image, empty when none is given."""
        return str(section(self.machine.get("install")).get("image", ""))

    @cached_property
    def kubernetes_version(self) -> str:
        """The kubelet's version, from its image."""
        image = str(section(self.machine.get("kubelet")).get("image", ""))
        return image.rpartition(":")[2].partition("@")[0] or "v1.36.2"

    @property
    def discovery(self) -> bool:
        """Whether the machines of a cluster find each other."""
        return bool(section(self.cluster.get("discovery")).get("enabled", False))

    @property
    def kube_prism(self) -> bool:
        """Whether there is a load balancer to all control planes on the machine itself."""
        return bool(section(section(self.machine.get("features")).get("kubePrism")).get("enabled", False))

    @property
    def cni(self) -> str:
        """The name of the network plugin; ``none`` means that nodes stay NotReady until somebody installs one."""
        return str(section(section(self.cluster.get("network")).get("cni")).get("name", "flannel"))

    @cached_property
    def vips(self) -> tuple[str, ...]:
        """The shared addresses that the control planes hold in turn."""
        return links.shared(self.documents)

    @cached_property
    def addresses(self) -> tuple[str, ...]:
        """The static addresses, without their prefix lengths."""
        return links.addresses(self.documents)

    def kind(self, kind: str) -> Iterator[Document]:
        """The documents of one kind."""
        return (document for document in self.documents if document.get("kind") == kind)

    def secrets(self) -> tuple[str, ...]:
        """Every value that must never be seen in a log."""
        return tuple(secrets_in(self.documents))

    @cached_property
    def _v1alpha1(self) -> Document:
        return next((document for document in self.documents if "kind" not in document), {})
