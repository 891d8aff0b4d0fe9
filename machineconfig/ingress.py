"""Who may open a connection to which port of a node: what the ingress firewall lets in."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

from topology import Firewall, Topology

Subnets = tuple[IPv4Network | IPv6Network, ...]


@dataclass(frozen=True)
class Ingress:
    """The subnets for each service of a node. Ports are Talos's and Kubernetes's own, and stand in the patches."""

    topology: Topology

    @property
    def talos_api(self) -> Subnets:
        """The nodes, because control planes relay calls, and operators."""
        return _once(*self.topology.network.nodes, *(self._firewall.talos_api if self._firewall else ()))

    @property
    def trustd(self) -> Subnets:
        """The nodes: workers ask control planes for their certificates."""
        return _once(*self.topology.network.nodes)

    @property
    def etcd(self) -> Subnets:
        """The control planes alone."""
        return tuple(ip_network(node.address) for node in self.topology.controlplanes)

    @property
    def kubernetes_api(self) -> Subnets:
        """The nodes, pods, the load balancers, and whoever comes without them."""
        balancers = [ip_network(address) for address in self.topology.api_server.load_balancers]
        others = self._firewall.kubernetes_api if self._firewall else ()
        return _once(*self.topology.network.nodes, *self.topology.network.pod_subnets, *balancers, *others)

    @property
    def kubelet(self) -> Subnets:
        """The nodes, pods such as metrics-server, and monitoring outside."""
        others = self._firewall.kubelet if self._firewall else ()
        return _once(*self.topology.network.nodes, *self.topology.network.pod_subnets, *others)

    @property
    def pod_network(self) -> Subnets:
        """The nodes: packets between pods of two nodes come from a node."""
        return _once(*self.topology.network.nodes)

    @property
    def _firewall(self) -> Firewall | None:
        return self.topology.firewall


def _once(*networks: IPv4Network | IPv6Network) -> Subnets:
    return tuple(dict.fromkeys(networks))
