"""Who may open a connection to which port of a node: what the ingress firewall lets in."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Literal

from topology import Node, Topology

Subnets = tuple[IPv4Network | IPv6Network, ...]


@dataclass(frozen=True)
class Opening:
    """Ports that some subnets reach."""

    name: str
    ports: tuple[int | str, ...]
    subnets: Subnets
    protocol: Literal["tcp", "udp"] = "tcp"


@dataclass(frozen=True)
class Ingress:
    """The openings of a node. The ports are Talos's and Kubernetes's own."""

    topology: Topology
    node: Node

    @property
    def rules(self) -> tuple[Opening, ...]:
        """One for each service of the node; none without a firewall in the topology."""
        if self.topology.firewall is None:
            return ()
        return (*self._of_every_node(), *(self._of_control_planes() if self.node.is_controlplane else ()))

    def _of_every_node(self) -> Iterator[Opening]:
        network, firewall = self.topology.network, self.topology.firewall
        assert firewall is not None  # noqa: S101 - `rules` has looked
        # The nodes, because control planes relay calls, and operators.
        yield Opening("talos-api", (50000,), _once(network.nodes, firewall.talos_api))
        # The nodes, pods such as metrics-server, and monitoring outside.
        yield Opening("kubelet", (10250,), _once(network.nodes, network.pod_subnets, firewall.kubelet))
        # Packets between pods of two nodes come from a node.
        if network.cni == "flannel":
            yield Opening("pod-network-vxlan", (4789,), _once(network.nodes), "udp")
        else:  # Without a CNI of Talos's: the VXLAN, health checks and Hubble of Cilium.
            yield Opening("pod-network-vxlan", (8472,), _once(network.nodes), "udp")
            yield Opening("pod-network-health", (4240, 4244), _once(network.nodes))

    def _of_control_planes(self) -> Iterator[Opening]:
        topology, network, firewall = self.topology, self.topology.network, self.topology.firewall
        assert firewall is not None  # noqa: S101 - `rules` has looked
        # Workers ask control planes for their certificates.
        yield Opening("trustd", (50001,), _once(network.nodes))
        yield Opening("etcd", ("2379-2380",), _once(ip_network(node.address) for node in topology.controlplanes))
        # The nodes, pods, the load balancers, and whoever comes without them.
        balancers = [ip_network(address) for address in topology.api_server.load_balancers]
        clients = _once(network.nodes, network.pod_subnets, balancers, firewall.kubernetes_api)
        yield Opening("kubernetes-api", (6443,), clients)


def _once(*subnets: Iterable[IPv4Network | IPv6Network]) -> Subnets:
    return tuple(dict.fromkeys(subnet for each in subnets for subnet in each))
