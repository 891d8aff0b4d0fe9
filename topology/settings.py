"""The small parts of a topology: versions, secrets, images, API server, kubelet, rollout, firewall, waivers."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from topology.model import Model
from topology.values import (
    AnyAddress,
    AnyNetwork,
    ContractValue,
    Flag,
    Host,
    Https,
    Name,
    OneOrMany,
    Text,
    VersionValue,
    Whole,
    distinct,
    sorted_tuple,
)


class Versions(Model):
    """What runs, and what the configuration is written for."""

    talos: VersionValue = Field(examples=["v1.13.9"])
    """The Talos release that runs: boot image and installer."""
    kubernetes: VersionValue = Field(examples=["v1.36.2"])
    """The Kubernetes release that runs."""
    contract: ContractValue = Field(examples=["v1.13"])
    """The Talos minor version the cluster was created with. It stays what it was; changing it changes defaults."""


class Secrets(Model):
    """Where the cluster's machine secrets come from, once. The secrets themselves are in Pulumi's state only."""

    generate: Flag = False
    """Make new ones with the cluster."""
    import_from: Text | None = None
    """A secrets.yaml made by talosctl gen secrets, read once at creation."""


class Image(Model):
    """What is built into a boot image and an installer: one schematic of the Image Factory."""

    extensions: Annotated[tuple[Text, ...], AfterValidator(distinct), AfterValidator(sorted_tuple)] = ()
    """System extensions, such as siderolabs/qemu-guest-agent. Kept sorted: the schematic's id depends on it."""
    extra_kernel_args: Annotated[tuple[Text, ...], AfterValidator(distinct)] = ()
    """Kernel arguments. They belong here only, never in a patch."""
    secure_boot: Flag = False
    """Whether image and installer are the signed ones."""

    def has(self, extension: str) -> bool:
        """Whether an extension is built in; ``qemu-guest-agent`` means ``siderolabs/qemu-guest-agent``."""
        return any(extension in (name, name.removeprefix("siderolabs/")) for name in self.extensions)


class Oidc(Model):
    """Who may log in to the API server with tokens of an OpenID Connect provider."""

    issuer: Https = Field(examples=["https://login.example.net"])
    """The provider's URL, as it is in the tokens."""
    client_id: Text = Field(examples=["kubernetes"])
    """The client the tokens are for."""
    username_claim: Text | None = None
    """The claim with the user's name; Kubernetes's default is sub."""
    username_prefix: Text | None = None
    """Put before every user's name; - for nothing."""
    groups_claim: Text | None = None
    """The claim with the user's groups."""
    groups_prefix: Text | None = None
    """Put before every group's name."""


class ApiServer(Model):
    """Settings of kube-apiserver."""

    cert_sans: Annotated[tuple[Host, ...], AfterValidator(distinct)] = Field(default=(), alias="certSANs")
    """More names and addresses for its certificate; endpoint, VIP and the nodes' addresses are there anyway."""
    load_balancers: Annotated[tuple[AnyAddress, ...], AfterValidator(distinct)] = ()
    """Addresses of the load balancer that the endpoint's name leads to: into its certificate, through the firewall."""
    oidc: Oidc | None = None
    """Log-in with tokens of an OpenID Connect provider."""


class ServingCertificates(Model):
    """Versions of the manifests that kubelet serving certificates need."""

    approver: VersionValue = Field(examples=["v0.10.0"])
    """The release of kubelet-serving-cert-approver."""
    metrics_server: VersionValue = Field(examples=["v0.8.1"])
    """The release of metrics-server."""


class Kubelet(Model):
    """Settings of the kubelets."""

    serving_certificates: ServingCertificates | None = None
    """Serving certificates of the cluster's CA, rotated, with approver and metrics-server at pinned versions."""


class Drain(Model):
    """How pods are moved away from a machine before it reboots into another Talos."""

    timeout: Annotated[Whole, Field(ge=0)] = 300
    """Seconds in which the pods of a machine must be gone, within their disruption budgets; 0 moves none."""
    on_timeout: Literal["stop", "continue"] = "stop"
    """Whether a machine with pods left on it stops the run, and is let take pods again, or is upgraded all the same."""


class Rollout(Model):
    """How changes are rolled out to running machines."""

    apply_mode: Literal["auto", "no_reboot", "reboot", "staged"] = "auto"
    """How Talos takes a new configuration; auto reboots only where it must. Control planes go one at a time always."""
    workers_at_once: Annotated[Whole, Field(ge=1)] = 1
    """How many workers change at the same time."""
    timeout: Annotated[Whole, Field(ge=1)] = 600
    """Seconds to wait for one machine to be back and healthy."""
    drain: Drain = Drain()
    """How pods are moved away before an upgrade of Talos."""
    staged: Flag = False
    """Whether Talos installs an upgrade while it boots, not while it runs; that takes two reboots."""
    accept_quorum_loss: Flag = False
    """For two control planes by design: lets one of them go down, although etcd stops until it is back."""


Networks = Annotated[tuple[AnyNetwork, ...], OneOrMany(), AfterValidator(distinct)]


class Firewall(Model):
    """The ingress firewall of every node: what is not let in here is dropped.

    The nodes reach each other anyway: the Talos API, trustd, the kubelet, the pod network; only control planes reach
    etcd. The load balancers reach the Kubernetes API, and so do pods.
    """

    talos_api: Networks = Field(min_length=1, examples=["192.0.2.0/24"])
    """Where operators and this program reach the Talos API from. Without it nobody could change a node again."""
    kubernetes_api: Networks = ()
    """Where the Kubernetes API is reached from without the load balancers in between."""
    kubelet: Networks = ()
    """Where kubelets are asked from, such as by monitoring outside of the cluster."""


class Waiver(Model):
    """One check that may find something, on one node or on all. A waiver that waives nothing is a fault itself."""

    check: Text = Field(examples=["worker-taint"])
    """The id of the check, in brackets at the end of its findings."""
    node: Name | None = None
    """The node it is waived for; every node when left out."""
    reason: Text = Field(examples=["the cloud controller removes the taint"])
    """Why this is right here, for whoever reads it next year."""
