"""Addresses and networks: what must lie inside what, and what must be apart."""

from collections.abc import Iterator
from ipaddress import IPv4Address
from itertools import combinations

from findings import NOTHING, Finding, Path
from topology.addresses import unusable
from topology.network import DEFAULT_POD_SUBNET, DEFAULT_SERVICE_SUBNET
from topology.topology import Topology
from topology.values import AnyNetwork

_WHAT = {"vip": "the VIP", "gateway": "the gateway", "loadBalancers": "the load balancer"}


def endpoint_is_known(topology: Topology) -> Iterator[Finding]:
    """Several control planes need an address in front of them."""
    if topology.endpoint_given is None and topology.network.vip is None and len(topology.controlplanes) > 1:
        message = f"is missing, and there are {len(topology.controlplanes)} control planes without a VIP"
        cure = "give network.vip, or the URL of a load balancer in front of them, such as https://k8s.example.net:6443"
        yield Finding.at(("endpoint",), NOTHING, message, cure)


def endpoint_is_no_node(topology: Topology) -> Iterator[Finding]:
    """The API's address is no node's, except on a single control plane: it must outlive every one of them."""
    if topology.endpoint_given is None or not topology.controlplanes:
        return
    for node in topology.nodes:
        alone = node.is_controlplane and len(topology.controlplanes) == 1
        if node.address == topology.endpoint_given.address and not alone:
            cure = "give the address of a load balancer, a DNS name, or network.vip instead"
            yield Finding.at(("endpoint",), topology.endpoint_given, f"is the address of {node.name} alone", cure)


def networks_are_disjoint(topology: Topology) -> Iterator[Finding]:
    """Nodes, pods and services live in networks that share no address; the defaults count too."""
    network = topology.network
    named = [
        *(_places("nodes", network.nodes)),
        *(_places("podSubnets", network.pod_subnets)),
        *(_places("serviceSubnets", network.service_subnets)),
    ]
    for (first, one), (second, other) in combinations(named, 2):
        if one.version == other.version and one.overlaps(other):
            cure = "give nodes, pods and services networks that share no address"
            message = f"shares addresses with {other}{_default(second[1], other)} in {'.'.join(map(str, second[:2]))}"
            yield Finding.at(first, one, message, cure)


def gateway_is_in_the_node_network(topology: Topology) -> Iterator[Finding]:
    """A gateway is reached directly."""
    gateway = topology.network.gateway
    if gateway is not None and topology.network.network_of(gateway) is None:
        message = f"is outside of the node network {_list(topology.network.nodes)}"
        yield Finding.at(("network", "gateway"), gateway, message, "give a router inside it")


def vip_is_on_the_control_planes_network(topology: Topology) -> Iterator[Finding]:
    """A layer-2 address moves between machines of one network only."""
    vip = topology.network.vip
    if vip is None:
        return
    home = topology.home_of(vip)
    if home is None:
        message = f"is outside of the node network {_list(topology.network.nodes)}"
        yield Finding.at(("network", "vip"), vip, message, "give a free address inside it")
        return
    for node in topology.controlplanes:
        own = topology.home_of(node.address)
        if own is not None and own != home:
            message = f"is in {home} and cannot cross a router to the control plane {node.name} in {own}"
            cure = "put all control planes into the VIP's network, or use a load balancer and endpoint instead"
            yield Finding.at(("network", "vip"), vip, message, cure)


def shared_addresses_are_no_node(topology: Topology) -> Iterator[Finding]:
    """VIP, gateways and load balancers have addresses of their own."""
    network = topology.network
    owners = {node.address: node.name for node in topology.nodes}
    for loc, address in _shared(topology):
        if isinstance(address, IPv4Address) and address in owners:
            what = next(words for key, words in _WHAT.items() if key in loc)
            message = f"is also the address of {owners[address]}"
            yield Finding.at(loc, address, message, f"give {what} an address that no node has")
    if network.vip is not None and network.vip == network.gateway:
        yield Finding.at(("network", "vip"), network.vip, "is also the gateway", "give the VIP a free address")


def _shared(topology: Topology) -> Iterator[tuple[Path, object]]:
    """The addresses that are no single node's own: VIP, gateways, load balancers."""
    yield ("network", "vip"), topology.network.vip
    yield from (((*loc, "gateway"), site.gateway) for loc, site in topology.sites)
    for index, address in enumerate(topology.api_server.load_balancers):
        yield ("apiServer", "loadBalancers", index), address


def _servers(topology: Topology) -> Iterator[tuple[Path, object]]:
    """The addresses of name servers."""
    for loc, site in topology.sites:
        yield from (((*loc, "nameservers", index), address) for index, address in enumerate(site.nameservers))


def addresses_are_unique(topology: Topology) -> Iterator[Finding]:
    """An address belongs to one node."""
    seen: dict[object, str] = {}
    for index, node in enumerate(topology.nodes):
        if node.address in seen:
            message = f"is also the address of {seen[node.address]}"
            yield Finding.at(
                ("nodes", index, "address"), node.address, message, "give every node an address of its own"
            )
        seen.setdefault(node.address, node.name)


def addresses_are_in_the_node_network(topology: Topology) -> Iterator[Finding]:
    """Every node is in the node network."""
    for index, node in enumerate(topology.nodes):
        if topology.home_of(node.address) is None:
            message = f"of {node.name} is outside of the node network {_list(topology.network.nodes)}"
            cure = "correct the address, or add its network to network.nodes"
            yield Finding.at(("nodes", index, "address"), node.address, message, cure)


def addresses_are_machines(topology: Topology) -> Iterator[Finding]:
    """No node, VIP, gateway, server or load balancer has the first or the last address of a node network."""
    endpoint = topology.endpoint_given.address if topology.endpoint_given else None
    addresses: list[tuple[Path, object, str]] = [
        *((("nodes", index, "address"), node.address, f"of {node.name} ") for index, node in enumerate(topology.nodes)),
        *((loc, address, "") for loc, address in (*_shared(topology), *_servers(topology), (("endpoint",), endpoint))),
    ]
    for loc, address, whose in addresses:
        home = topology.home_of(address) if isinstance(address, IPv4Address) else None
        if home is not None and home.prefixlen < 31 and address in (home.network_address, home.broadcast_address):
            message = f"{whose}is the first or last address of {home}, which is no machine's"
            yield Finding.at(loc, address, message, "give one in between")


def networks_are_of_machines(topology: Topology) -> Iterator[Finding]:
    """Nodes, pods and services have addresses that packets are routed to.

    Loopback is for machines that are simulated on one, and then all of them are on it.
    """
    network = topology.network
    rehearsed = all(each.is_loopback for each in network.nodes)
    places = [
        *(_places("nodes", network.nodes) if not rehearsed else ()),
        *_places("podSubnets", network.pod_subnets),
        *_places("serviceSubnets", network.service_subnets),
        *((("zones", name, "network"), zone.network) for name, zone in topology.zones.items() if zone.network),
    ]
    for loc, each in places:
        if (kind := unusable(each)) and not (rehearsed and loc[0] == "zones"):
            cure = "take one of a private range, such as 10.0.0.0/8, 192.168.0.0/16 or fd00::/8"
            yield Finding.at(loc, each, f"holds {kind}", cure)


def _places(key: str, networks: tuple[AnyNetwork, ...]) -> list[tuple[Path, AnyNetwork]]:
    return [(("network", key, index), network) for index, network in enumerate(networks)]


def _default(key: str | int, network: AnyNetwork) -> str:
    defaults = {"podSubnets": DEFAULT_POD_SUBNET, "serviceSubnets": DEFAULT_SERVICE_SUBNET}
    return " (the default)" if defaults.get(str(key)) == str(network) else ""


def _list(networks: tuple[AnyNetwork, ...]) -> str:
    return " or ".join(str(network) for network in networks)
