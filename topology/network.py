"""The networks of a cluster: where nodes, pods and services live, and who carries the API's address."""

from ipaddress import IPv4Address
from typing import Annotated, Any, Literal

from pydantic import Field

from topology.site import Site
from topology.values import Address, AnyNetwork, Domain, Flag, Interface, Network, OneOrMany

DEFAULT_POD_SUBNET = "10.244.0.0/16"
DEFAULT_SERVICE_SUBNET = "10.96.0.0/12"


def _kube_proxy_follows_cni(data: dict[str, Any]) -> bool:
    return bool(data["cni"] != "none")


class ClusterNetwork(Site):
    """What the nodes share of the network. Rules check that the networks are disjoint and hold what they should.

    A zone may have its own gateway, DNS, NTP, proxy and registry mirrors.
    """

    nodes: Annotated[tuple[Network, ...], OneOrMany()] = Field(min_length=1, examples=["192.168.1.0/24"])
    """The network of the nodes' addresses, one or a list of them. kubelet and etcd use addresses from here only."""
    vip: Address | None = None
    """A layer-2 address that the control planes hold in turn, for the Kubernetes API only. Never for the Talos API."""
    interface: Interface | None = None
    """The nodes' network interface, where it is the same on all and the platform does not decide its name."""
    cni: Literal["flannel", "none"] = "flannel"
    """Who connects pods: Talos's flannel, or none where Cilium or another one is installed afterwards."""
    kube_proxy: Flag = Field(default_factory=_kube_proxy_follows_cni)
    """Whether kube-proxy runs; by default only with a CNI of Talos's own."""
    pod_subnets: tuple[AnyNetwork, ...] = Field(default=(DEFAULT_POD_SUBNET,), validate_default=True)
    """Networks of the pods: one of IPv4, or IPv4 and IPv6."""
    service_subnets: tuple[AnyNetwork, ...] = Field(default=(DEFAULT_SERVICE_SUBNET,), validate_default=True)
    """Networks of the services, in the same families and order as the pods'."""
    dns_domain: Domain = "cluster.local"
    """The cluster's DNS domain."""
    discovery: Flag = True
    """Whether nodes find each other through the hosted discovery service."""

    def network_of(self, address: IPv4Address) -> Network | None:
        """The node network that holds ``address``; None outside of all."""
        return next((network for network in self.nodes if address in network), None)
