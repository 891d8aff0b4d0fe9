"""Zones: that the cluster survives the loss of any one, and that each is a network of its own where they are routed."""

from collections.abc import Iterator
from itertools import combinations

from findings import NOTHING, Finding
from topology.topology import Topology


def zones_survive_the_loss_of_one(topology: Topology) -> Iterator[Finding]:
    """Two zones or more are a claim: the loss of any one leaves a majority of etcd's members."""
    for loss in topology.losses:
        if loss.survives or not loss.total:
            continue
        most = loss.total - loss.majority
        if len(topology.losses) < 3 or not most:
            cure = "use three zones with a control plane in each, or declare no zones"
        else:
            cure = f"put at most {most} of the {loss.total} into one zone"
        yield Finding.at(("zones", loss.zone), NOTHING, loss.words("control planes"), cure)


def storage_survives_the_loss_of_a_zone(topology: Topology) -> Iterator[Finding]:
    """The same for the storage cluster: each storage zone has one vote in its quorum."""
    for loss in topology.storage_losses:
        if not loss.survives:
            cure = "declare three storage zones, one of which may be there for its vote alone"
            yield Finding.at(("zones", loss.zone, "storage"), NOTHING, loss.words("storage votes"), cure)


def storage_zones_are_odd(topology: Topology) -> Iterator[Finding]:
    """An even number of votes survives no more than one fewer."""
    count = len(topology.storage_losses)
    if count > 2 and count % 2 == 0:
        message = f"has {count} storage zones, which survive the loss of {(count - 1) // 2}, as {count - 1} would"
        yield Finding.at(("zones",), NOTHING, message, f"take {count - 1} or {count + 1}")


def zones_have_nodes(topology: Topology) -> Iterator[Finding]:
    """A zone without a node, a storage vote and registries for others is one whose nodes were renamed or removed."""
    lenders = {zone.registry_mirrors_of for zone in topology.zones.values()}
    for name, zone in topology.zones.items():
        if not topology.nodes_in(name) and not zone.storage and name not in lenders:
            yield Finding.at(("zones", name), NOTHING, "has no node", "put one there or take the zone out")


def zone_networks_are_routed(topology: Topology) -> Iterator[Finding]:
    """A zone's network is a part of the node networks, and no other zone's."""
    zones = [(name, zone.network) for name, zone in topology.zones.items() if zone.network is not None]
    for name, network in zones:
        if not any(network.subnet_of(each) for each in topology.network.nodes):
            message = f"of {name} is outside of the node network {' or '.join(map(str, topology.network.nodes))}"
            yield Finding.at(("zones", name, "network"), network, message, "add it to network.nodes")
    for (one, first), (other, second) in combinations(zones, 2):
        if first.overlaps(second):
            message = f"of {other} shares addresses with {first} of {one}"
            cure = "give each zone a subnet of its own, or leave network out where zones share one"
            yield Finding.at(("zones", other, "network"), second, message, cure)


def zone_gateways_are_in_their_network(topology: Topology) -> Iterator[Finding]:
    """A gateway is reached directly, and a network of a zone's own needs one of its own."""
    shared = topology.network.gateway
    for name, zone in topology.zones.items():
        if zone.gateway is not None:
            home = (zone.network,) if zone.network is not None else topology.network.nodes
            if not any(zone.gateway in network for network in home):
                message = f"is outside of the network of {name}, {' or '.join(map(str, home))}"
                yield Finding.at(("zones", name, "gateway"), zone.gateway, message, "give a router inside it")
        elif zone.network is not None and shared is not None and shared not in zone.network:
            message = f"is missing, and network.gateway {shared} is outside of {zone.network}"
            yield Finding.at(("zones", name, "gateway"), NOTHING, message, f"give the router of {name}")


def zones_hold_their_nodes(topology: Topology) -> Iterator[Finding]:
    """A node's address is in the network of its zone."""
    for index, node in enumerate(topology.nodes):
        zone = topology.zones.get(node.zone or "")
        if zone is None or zone.network is None or topology.network.network_of(node.address) is None:
            continue
        if node.address not in zone.network:
            message = f"of {node.name} is outside of {zone.network}, the network of its zone {node.zone}"
            yield Finding.at(("nodes", index, "address"), node.address, message, "correct the address or the zone")


def load_balancers_have_a_name(topology: Topology) -> Iterator[Finding]:
    """Load balancers are behind an endpoint, which is not the VIP."""
    if not topology.api_server.load_balancers:
        return
    if topology.endpoint_given is None:
        message = "is missing, and apiServer.loadBalancers has addresses for it"
        cure = "give the name that leads to them, such as https://k8s.example.net:6443"
        yield Finding.at(("endpoint",), NOTHING, message, cure)
    for index, address in enumerate(topology.api_server.load_balancers):
        if address == topology.network.vip:
            yield Finding.at(("apiServer", "loadBalancers", index), address, "is also the VIP", "leave one of them out")
