"""Pod and service subnets: families, order and sizes that Kubernetes takes."""

from collections.abc import Iterator

from topology.fault import NOTHING, Found, Loc
from topology.topology import Topology
from topology.values import AnyNetwork

# kube-apiserver refuses service ranges with more host bits, and ranges with fewer than eight addresses.
_SERVICE_BITS = range(3, 21)
# kube-controller-manager cuts pod subnets into these, at most 2^16 of them.
_POD_BITS = {4: (24, 16), 6: (64, 16)}


def families_match(topology: Topology) -> Iterator[Found]:
    """Pods and services have IPv4, or IPv4 and then IPv6: the order of the nodes' own addresses decides."""
    pods, services = topology.network.pod_subnets, topology.network.service_subnets
    for key, subnets in (("podSubnets", pods), ("serviceSubnets", services)):
        versions = [subnet.version for subnet in subnets]
        if versions not in ([4], [4, 6]):
            given = ", ".join(str(subnet) for subnet in subnets) or "an empty list"
            message = f"has {given}, and the nodes' own addresses are IPv4"
            yield Found(
                ("network", key), NOTHING, message, "give one IPv4 network, or one of IPv4 and one of IPv6 after it"
            )
    if sorted(map(_version, pods)) != sorted(map(_version, services)):
        message = f"has the families {_families(services)}, and podSubnets has {_families(pods)}"
        yield Found(("network", "serviceSubnets"), NOTHING, message, "give both the same families")


def service_subnets_have_a_size(topology: Topology) -> Iterator[Found]:
    """A service subnet has 8 to 2^20 addresses: IPv4 /12 to /29, IPv6 /108 to /125."""
    for index, subnet in enumerate(topology.network.service_subnets):
        bits = subnet.max_prefixlen - subnet.prefixlen
        longest, shortest = (subnet.max_prefixlen - bound for bound in (_SERVICE_BITS[0], _SERVICE_BITS[-1]))
        if bits not in _SERVICE_BITS:
            size = "large" if bits > _SERVICE_BITS[-1] else "small"
            cure = f"give it a prefix length from /{shortest} to /{longest}"
            loc: Loc = ("network", "serviceSubnets", index)
            yield Found(loc, subnet, f"is too {size} for kube-apiserver", cure)


def pod_subnets_have_room(topology: Topology) -> Iterator[Found]:
    """Every node gets a /24 of the IPv4 pod subnet and a /64 of the IPv6 one."""
    count = len(topology.nodes)
    for index, subnet in enumerate(topology.network.pod_subnets):
        per_node, most = _POD_BITS[subnet.version]
        bits = per_node - subnet.prefixlen
        loc: Loc = ("network", "podSubnets", index)
        if bits > most:
            cure = f"give it a prefix length of /{per_node - most} or more"
            yield Found(loc, subnet, "is too large for kube-controller-manager", cure)
        elif bits < 0 or 2**bits < count:
            fits = f"cannot give a /{per_node} to each of {count} nodes"
            cure = f"give it a prefix length of /{per_node - (count - 1).bit_length()} or less"
            yield Found(loc, subnet, fits, cure)


def _version(subnet: AnyNetwork) -> int:
    return subnet.version


def _families(subnets: tuple[AnyNetwork, ...]) -> str:
    return " and ".join(f"IPv{subnet.version}" for subnet in subnets) or "none"
