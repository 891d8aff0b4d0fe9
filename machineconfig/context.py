"""What a template sees: the node, the cluster, and facts, which are what follows from both for this one machine."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address

from machineconfig.model import Facts
from topology import Contract, Node, Topology
from topology.disk import Disk

HOSTNAME_DOCUMENT = Contract(1, 12)
"""From this contract on the host name is a document of its own, and there is more than one document."""


@dataclass(frozen=True)
class NodeFacts:
    """`facts` in a template. Everything here is computed; nothing can be set."""

    topology: Topology
    node: Node
    machine: Facts

    @property
    def address(self) -> IPv4Address:
        """The address that the machine really has."""
        return self.machine.address

    @property
    def installer(self) -> str:
        """The installer image with the node's schematic, for this cluster's Talos version."""
        return self.machine.installer

    @property
    def hostname_is_a_document(self) -> bool:
        """Whether the host name goes to HostnameConfig and not to machine.network."""
        return self.topology.versions.contract >= HOSTNAME_DOCUMENT

    @property
    def interface(self) -> str | None:
        """The name of the interface that holds the node's address; None where the platform alone addresses it."""
        return self.topology.interface_of(self.node)

    @property
    def address_with_prefix(self) -> str:
        """`192.168.1.121/24`."""
        return f"{self.node.address}/{self.topology.prefix_length_of(self.node)}"

    @property
    def gateway(self) -> IPv4Address | None:
        """The default route, if it can be reached from the node's own network."""
        network, gateway = self.topology.network.network_of(self.node.address), self.topology.network.gateway
        return gateway if network is not None and gateway is not None and gateway in network else None

    @property
    def vip(self) -> IPv4Address | None:
        """The address that this node can hold for the Kubernetes API; None on workers."""
        return self.topology.network.vip if self.node.is_controlplane else None

    @property
    def node_subnets(self) -> tuple[str, ...]:
        """Where kubelet and etcd may choose their address: the node networks, never the VIP."""
        network = self.topology.network
        return (*map(str, network.nodes), *([f"!{network.vip}/32"] if network.vip else []))

    @property
    def cert_sans(self) -> tuple[str, ...]:
        """The names in the machine's certificate: the addresses that talosctl and this program use."""
        return _once([self.node.address, self.machine.address])

    @property
    def api_server_cert_sans(self) -> tuple[str, ...]:
        """The names in the API server's certificate. Up to contract v1.11 the endpoint's host is there already."""
        network, endpoint = self.topology.network, self.topology.endpoint
        names = _once([network.vip, endpoint.host, *self.topology.api_server.cert_sans])
        return tuple(name for name in names if self.hostname_is_a_document or name != endpoint.host)

    @cached_property
    def api_server_arguments(self) -> dict[str, str]:
        """The OIDC flags of kube-apiserver that the topology sets."""
        oidc = self.topology.api_server.oidc
        if oidc is None:
            return {}
        flags = {
            "oidc-issuer-url": oidc.issuer,
            "oidc-client-id": oidc.client_id,
            "oidc-username-claim": oidc.username_claim,
            "oidc-username-prefix": oidc.username_prefix,
            "oidc-groups-claim": oidc.groups_claim,
            "oidc-groups-prefix": oidc.groups_prefix,
        }
        return {flag: value for flag, value in flags.items() if value is not None}

    def disk_selector(self, disk: Disk) -> dict[str, str]:
        """A disk as machine.install.diskSelector has it: without the link, which belongs to machine.install.disk."""
        return disk.model_dump(by_alias=True, exclude_none=True, exclude={"path"})


def context(topology: Topology, node: Node, facts: Facts) -> dict[str, object]:
    """The names that every template of a node knows, besides `secret` and `include`."""
    return {"node": node, "cluster": topology, "facts": NodeFacts(topology, node, facts)}


def _once(names: Iterable[object]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(name) for name in names if name is not None))
