"""Pod and service subnets: families, order and sizes that Kubernetes takes."""

from collections.abc import Iterator

from findings import NOTHING, Finding, Path
from topology.topology import Topology

# kube-apiserver refuses service ranges with more host bits, and ranges with fewer than eight addresses.
_SERVICE_BITS = range(3, 21)
# kube-controller-manager cuts pod subnets into these, at most 2^16 of them.
_POD_BITS = {4: (24, 16), 6: (64, 16)}


def nodes_have_the_pods_families(topology: Topology) -> Iterator[Finding]:
    """Pods of two nodes reach each other by the nodes' own addresses, which are IPv4."""
    carrier = "flannel carries none" if topology.network.cni == "flannel" else "not every CNI carries it"
    for index, subnet in enumerate(topology.network.pod_subnets):
        if subnet.version == 6:
            message = f"is IPv6, and the nodes have IPv4 addresses alone, over which {carrier}"
            cure = "leave IPv6 out, or take a CNI that carries it over IPv4"
            yield Finding.at(("network", "podSubnets", index), subnet, message, cure)


def families_match(topology: Topology) -> Iterator[Finding]:
    """Pods and services have IPv4, or IPv4 and then IPv6: the order of the nodes' own addresses decides."""
    given = {"podSubnets": topology.network.pod_subnets, "serviceSubnets": topology.network.service_subnets}
    families = {key: [subnet.version for subnet in subnets] for key, subnets in given.items()}
    cure = "give one IPv4 network, or one of IPv4 and one of IPv6 after it"
    for key, versions in families.items():
        listed = ", ".join(map(str, given[key])) or "an empty list"
        twice = next((version for version in versions if versions.count(version) > 1), None)
        if twice is not None:
            message = f"has {listed}, which is more than one network of IPv{twice}"
            yield Finding.at(("network", key), NOTHING, message, cure)
        elif versions not in ([4], [4, 6]):
            message = f"has {listed}, and the nodes' own addresses are IPv4"
            yield Finding.at(("network", key), NOTHING, message, cure)
    pods, services = (" and ".join(f"IPv{version}" for version in sorted(set(each))) for each in families.values())
    if pods != services:
        message = f"has {services or 'nothing'}, and podSubnets has {pods or 'nothing'}"
        yield Finding.at(("network", "serviceSubnets"), NOTHING, message, "give both the same families")


def service_subnets_have_a_size(topology: Topology) -> Iterator[Finding]:
    """A service subnet has 8 to 2^20 addresses: IPv4 /12 to /29, IPv6 /108 to /125."""
    for index, subnet in enumerate(topology.network.service_subnets):
        bits = subnet.max_prefixlen - subnet.prefixlen
        longest, shortest = (subnet.max_prefixlen - bound for bound in (_SERVICE_BITS[0], _SERVICE_BITS[-1]))
        if bits not in _SERVICE_BITS:
            size = "large" if bits > _SERVICE_BITS[-1] else "small"
            cure = f"give it a prefix length from /{shortest} to /{longest}"
            loc: Path = ("network", "serviceSubnets", index)
            yield Finding.at(loc, subnet, f"is too {size} for kube-apiserver", cure)


def pod_subnets_have_room(topology: Topology) -> Iterator[Finding]:
    """Every node gets a /24 of the IPv4 pod subnet and a /64 of the IPv6 one."""
    count = len(topology.nodes)
    for index, subnet in enumerate(topology.network.pod_subnets):
        per_node, most = _POD_BITS[subnet.version]
        bits = per_node - subnet.prefixlen
        loc: Path = ("network", "podSubnets", index)
        if bits > most:
            cure = f"give it a prefix length of /{per_node - most} or more"
            yield Finding.at(loc, subnet, "is too large for kube-controller-manager", cure)
        elif bits < 0 or 2**bits < count:
            fits = f"cannot give a /{per_node} to each of {count} nodes"
            cure = f"give it a prefix length of /{per_node - (count - 1).bit_length()} or less"
            yield Finding.at(loc, subnet, fits, cure)
