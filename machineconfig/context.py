"""What a template sees: the node, the cluster, and facts, which are what follows from both for this one machine."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address

from machineconfig.ingress import Ingress
from machineconfig.schematic import Schematic, installer
from topology import Contract, Disk, Link, LocalVolume, Node, Site, Topology

HOSTNAME_DOCUMENT = Contract(1, 12)
"""From this contract on the host name is a document of its own, and there is more than one document."""

_OF_TYPE = {
    "hdd": "disk.rotational",
    "ssd": "!disk.rotational",
    "nvme": 'disk.transport == "nvme"',
    "sd": 'disk.transport == "mmc"',
}
"""A disk's type in CEL."""


@dataclass(frozen=True)
class NodeFacts:
    """`facts` in a template. Everything here is computed; nothing can be set."""

    topology: Topology
    node: Node

    @cached_property
    def installer(self) -> str:
        """The installer image with the node's schematic, for this cluster's Talos version."""
        topology, image = self.topology, self.topology.image_of(self.node)
        return installer(
            topology.image_factory,
            topology.platform.image_platform,
            Schematic.of(image).id,
            topology.versions.talos,
            secure_boot=image.secure_boot,
        )

    @property
    def hostname_is_a_document(self) -> bool:
        """Whether the host name goes to HostnameConfig and not to machine.network."""
        return self.topology.versions.contract >= HOSTNAME_DOCUMENT

    @property
    def site(self) -> Site:
        """The settings of the place it is in: the zone's, and what that leaves out as the network has it."""
        return self.topology.site_of(self.node)

    @property
    def link(self) -> Link | None:
        """The bond, VLAN or single port that holds the node's address; None where the platform alone addresses it."""
        name = self.topology.interface_of(self.node)
        return self.topology.link_of(self.node) or (Link(name=name) if name else None)

    @property
    def address_with_prefix(self) -> str:
        """`192.168.1.121/24`."""
        return f"{self.node.address}/{self.topology.prefix_length_of(self.node)}"

    @property
    def gateway(self) -> IPv4Address | None:
        """The default route, if it can be reached from the node's own network."""
        network, gateway = self.topology.home_of(self.node.address), self.site.gateway
        return gateway if network is not None and gateway is not None and gateway in network else None

    @property
    def addressing(self) -> dict[str, object]:
        """Address, routes and VIP as an interface or a VLAN of it has them."""
        routes = {"routes": [{"network": "0.0.0.0/0", "gateway": self.gateway}]} if self.gateway else {}
        vip = {"vip": {"ip": self.vip}} if self.vip else {}
        return {"addresses": [self.address_with_prefix], **routes, **vip}

    @property
    def bond_options(self) -> dict[str, object]:
        """The options of the node's bond, by Talos's names; the ports are apart."""
        bond = self.link.bond if self.link else None
        return bond.model_dump(by_alias=True, exclude_none=True, exclude={"members"}) if bond else {}

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
    def environment(self) -> dict[str, str]:
        """The proxy of the node's site as variables; nothing where there is none."""
        proxy = self.site.proxy
        if proxy is None:
            return {}
        variables = {"http_proxy": proxy.http, "https_proxy": proxy.https, "no_proxy": self.no_proxy}
        return {name: value for name, value in variables.items() if value}

    @property
    def no_proxy(self) -> str:
        """What is reached directly: the cluster's own networks and names, and what the site adds."""
        network, proxy = self.topology.network, self.site.proxy
        own = ("127.0.0.1", "localhost", *network.nodes, *network.pod_subnets, *network.service_subnets)
        names = (".svc", f".{network.dns_domain}", self.topology.endpoint.host, *(proxy.no_proxy if proxy else ()))
        return ",".join(_once([*own, *names]))

    @property
    def volumes(self) -> Mapping[str, LocalVolume]:
        """The local volumes by name, each with its disk; none on control planes."""
        return self.topology.platform.volumes_of(self.node)

    @property
    def ingress(self) -> Ingress:
        """Who may reach which port of it, for the firewall."""
        return Ingress(self.topology, self.node)

    @property
    def cert_sans(self) -> tuple[str, ...]:
        """The names in the machine's certificate: the addresses that talosctl and this program use."""
        return (str(self.node.address),)

    @property
    def api_server_cert_sans(self) -> tuple[str, ...]:
        """The names in the API server's certificate. Up to contract v1.11 the endpoint's host is there already."""
        network, endpoint = self.topology.network, self.topology.endpoint
        api_server = self.topology.api_server
        names = _once([network.vip, endpoint.host, *api_server.load_balancers, *api_server.cert_sans])
        return tuple(name for name in names if self.hostname_is_a_document or name != endpoint.host)

    @cached_property
    def api_server_arguments(self) -> dict[str, str]:
        """The OIDC flags of kube-apiserver that the topology sets."""
        oidc = self.topology.api_server.oidc
        given = oidc.model_dump(exclude_none=True) if oidc else {}
        return {f"oidc-{'issuer-url' if key == 'issuer' else key.replace('_', '-')}": given[key] for key in given}

    def disk_selector(self, disk: Disk) -> dict[str, str]:
        """A disk as machine.install.diskSelector has it: without the link, which belongs to machine.install.disk."""
        return disk.model_dump(by_alias=True, exclude_none=True, exclude={"path"})

    def disk_expression(self, disk: Disk) -> str:
        """A disk as a volume's diskSelector has it, in CEL; never the disk that Talos is on."""
        known = disk.model_dump(exclude_none=True, exclude={"path", "type"})
        terms = [f"disk.{key} == {json.dumps(value)}" for key, value in known.items()]
        terms += [f"{json.dumps(disk.path)} in disk.symlinks"] if disk.path else []
        terms += [_OF_TYPE[disk.type]] if disk.type else []
        return " && ".join([*terms, "!system_disk"])


def context(topology: Topology, node: Node) -> dict[str, object]:
    """The names that every template of a node knows, besides `secret` and `include`."""
    return {"node": node, "cluster": topology, "facts": NodeFacts(topology, node)}


def _once(names: Iterable[object]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(name) for name in names if name is not None))
