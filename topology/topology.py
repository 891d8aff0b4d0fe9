"""The whole of what is wanted of one cluster, as one frozen value."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PrivateAttr

from findings import Finding, Path
from topology.endpoint import Endpoint
from topology.link import Link
from topology.model import Data, Model
from topology.network import ClusterNetwork
from topology.node import Node, Platform
from topology.quorum import Loss
from topology.settings import ApiServer, Firewall, Image, Kubelet, Rollout, Secrets, Versions, Waiver
from topology.site import Site, Zone
from topology.values import EndpointValue, Flag, Https, Name, Network

API_PORT = 6443
DEFAULT_IMAGE = "default"


def _without_workers(data: dict[str, Any]) -> bool:
    return all(node.is_controlplane for node in data["nodes"])


def _with_default(images: dict[str, Image]) -> dict[str, Image]:
    return images if DEFAULT_IMAGE in images else {DEFAULT_IMAGE: Image(), **images}


class Topology(Model):
    """A cluster. Made by `topology.load` only, which has checked it: no rule is broken in a topology one can hold."""

    name: Name = Field(examples=["homelab"])
    """The cluster's name."""
    versions: Versions
    """What runs. All three are required: a version left out would be whatever a plugin takes for the newest."""
    architecture: Literal["amd64", "arm64"] = "amd64"
    """The processors of all nodes."""
    secrets: Secrets = Field(default_factory=lambda: Secrets(generate=True))
    """Where the machine secrets come from; new ones unless they are imported."""
    endpoint_given: EndpointValue | None = Field(default=None, alias="endpoint")
    """The URL of the Kubernetes API; https://<vip>:6443 when left out, on a single control plane its own address."""
    network: ClusterNetwork
    """The networks."""
    api_server: ApiServer = ApiServer()
    """Settings of kube-apiserver."""
    kubelet: Kubelet = Kubelet()
    """Settings of the kubelets."""
    firewall: Firewall | None = None
    """Who may open a connection to a node; everybody when left out."""
    image_factory: Https = "https://factory.talos.dev"
    """The Image Factory that boot images and installers come from."""
    images: Annotated[dict[Name, Image], AfterValidator(_with_default)] = Field(default={}, validate_default=True)
    """Images by name. default is what a node gets that names none; without an entry it is plain Talos."""
    zones: dict[Name, Zone] = Field(default_factory=dict)
    """Zones by name. With two or more, the loss of any one must leave a majority of etcd."""
    platform: Platform
    """What the machines run on; kind chooses it."""
    nodes: tuple[Node, ...] = Field(min_length=1)
    """The machines."""
    allow_scheduling_on_control_planes: Flag = Field(default_factory=_without_workers)
    """Whether control planes run ordinary pods; by default only where there is no worker."""
    bootstrap_node: Name | None = None
    """The control plane that starts etcd, once; the first of the list at creation when left out."""
    rollout: Rollout = Rollout()
    """How changes are rolled out to running machines."""
    data: Data = Field(default_factory=dict)
    """Values of your own for all templates."""
    waivers: tuple[Waiver, ...] = ()
    """Findings of the checks that are right here, each with its reason. What is wrong in this file cannot be waived."""

    _warnings: tuple[Finding, ...] = PrivateAttr(default=())

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What is allowed and worth a second look."""
        return self._warnings

    @property
    def controlplanes(self) -> tuple[Node, ...]:
        """The control planes, in the order of the file."""
        return tuple(node for node in self.nodes if node.is_controlplane)

    @property
    def workers(self) -> tuple[Node, ...]:
        """The workers, in the order of the file."""
        return tuple(node for node in self.nodes if not node.is_controlplane)

    @property
    def endpoint(self) -> Endpoint:
        """Where the Kubernetes API is reached."""
        if self.endpoint_given:
            return self.endpoint_given
        return Endpoint(str(self.network.vip or self.controlplanes[0].address), API_PORT)

    @property
    def talosconfig_endpoints(self) -> tuple[IPv4Address, ...]:
        """Where talosctl connects: the control planes' own addresses, never the VIP, which needs etcd to be there."""
        return tuple(node.address for node in self.controlplanes)

    @property
    def talosconfig_nodes(self) -> tuple[IPv4Address, ...]:
        """What talosctl can speak to: all nodes, control planes first."""
        return tuple(node.address for node in (*self.controlplanes, *self.workers))

    @property
    def bootstrap(self) -> Node:
        """The control plane that starts etcd when the cluster is created."""
        return self.node(self.bootstrap_node) if self.bootstrap_node else self.controlplanes[0]

    def node(self, name: str) -> Node:
        """The node of that name; KeyError without one."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    def nodes_in(self, zone: str) -> tuple[Node, ...]:
        """The nodes of a zone, in the order of the file."""
        return tuple(node for node in self.nodes if node.zone == zone)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What the loss of each zone leaves of etcd's quorum; nothing for a single zone, which claims nothing."""
        zones = [zone for zone in self.zones if self.nodes_in(zone)]
        total = len(self.controlplanes)
        losses = [Loss(zone, sum(node.zone == zone for node in self.controlplanes), total) for zone in zones]
        return tuple(losses) if len(losses) > 1 else ()

    @property
    def storage_losses(self) -> tuple[Loss, ...]:
        """The same for the storage cluster, in which each storage zone has one vote."""
        voting = [name for name, zone in self.zones.items() if zone.storage]
        return tuple(Loss(zone, 1, len(voting)) for zone in voting) if len(self.zones) > 1 else ()

    @property
    def sites(self) -> tuple[tuple[Path, Site], ...]:
        """The network and the zones, each with its place in the file."""
        return (("network",), self.network), *((("zones", name), zone) for name, zone in self.zones.items())

    def site_of(self, node: Node) -> Site:
        """The settings of the place a node is in: its zone's, and what that leaves out as the network has it.

        Registry mirrors are those of the zone that `registryMirrorsOf` names, where the zone has that.
        """
        zone = self.zones.get(node.zone or "")
        if zone is None:
            return self.network
        lender = self.zones.get(zone.registry_mirrors_of or "")
        site = zone.over(self.network)
        return site.model_copy(update={"registry_mirrors": lender.registry_mirrors}) if lender else site

    def link_of(self, node: Node) -> Link | None:
        """How a node is connected, where more is known of it than the name of one port."""
        return self.platform.link_of(node)

    def image_of(self, node: Node) -> Image:
        """The image a node boots and installs."""
        return self.images[node.image]

    def installs(self, node: Node) -> bool:
        """Whether the topology says which Talos a node runs; not where a waiver lets a patch name another installer."""
        return not any(waiver.check == "installer" and waiver.node in (None, node.name) for waiver in self.waivers)

    def interface_of(self, node: Node) -> str | None:
        """The name of a node's interface: its link's, its own, the network's, the platform's; None without any."""
        if link := self.link_of(node):
            return link.name
        return node.interface or self.network.interface or self.platform.default_interface

    def home_of(self, address: IPv4Address) -> Network | None:
        """The subnet an address is in: a zone's, else a node network; None outside of all."""
        routed = (zone.network for zone in self.zones.values() if zone.network is not None)
        return next((network for network in routed if address in network), self.network.network_of(address))

    def prefix_length_of(self, node: Node) -> int:
        """The prefix length that goes with a node's address, from the subnet that holds it."""
        network = self.home_of(node.address)
        if network is None:
            raise ValueError(f"{node.address} is in no node network")
        return network.prefixlen
