"""Pod networks: the piece that each node gets, where arguments of kube-controller-manager say its size."""

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network

from findings import Finding
from machineconfig.checks.configuration import Final

_ARGUMENTS = ("cluster", "controllerManager", "extraArgs")
_BOTH = "node-cidr-mask-size"
_FLAGS = {4: "node-cidr-mask-size-ipv4", 6: "node-cidr-mask-size-ipv6"}
_MOST = 16
"""kube-controller-manager refuses more bits between a pod network and a node's piece of it."""
_PODS = ("cluster", "network", "podSubnets")


def cuts_pod_networks_into_pieces(final: Final) -> Iterator[Finding]:
    """Node masks in kube-controller-manager's arguments fit the pod networks and leave a subnet for every node."""
    if not final.node.is_controlplane:
        return
    arguments, networks = final.find(*_ARGUMENTS) or {}, _networks(final)
    for flag in (_BOTH, *_FLAGS.values()):
        if flag not in arguments:
            continue
        value = str(arguments[flag])
        path = (*_ARGUMENTS, flag)
        for message, cure in _wrong(flag, value, networks, len(final.topology.nodes)):
            yield final.finding(f"{flag} {value or 'nothing'} {message}", cure, path=path, value=value)


def _wrong(
    flag: str, value: str, networks: dict[int, IPv4Network | IPv6Network], nodes: int
) -> Iterator[tuple[str, str]]:
    """What is wrong with a mask, and the cure."""
    if flag == _BOTH and len(networks) > 1:
        yield "is refused with pod networks of both families", f"use {' and '.join(_FLAGS.values())} instead"
        return
    version = next((family for family, name in _FLAGS.items() if name == flag), next(iter(networks), 4))
    network = networks.get(version)
    if network is None:
        yield f"is for IPv{version}, and no pod network is", "leave it out"
        return
    longest, bits = network.max_prefixlen, (nodes - 1).bit_length()
    smallest, largest = network.prefixlen + bits, min(longest, network.prefixlen + _MOST)
    cure = f"give it a length from {smallest} to {largest}" if smallest <= largest else "give pods a larger network"
    if not (value.isascii() and value.isdigit()) or int(value) > longest:
        yield f"is no prefix length of IPv{version}", cure
    elif int(value) < network.prefixlen:
        yield f"is larger than the pod network {network} itself", cure
    elif int(value) - network.prefixlen > _MOST:
        yield (
            f"is {int(value) - network.prefixlen} bits away from the pod network {network}, and {_MOST} are taken",
            cure,
        )
    elif int(value) < smallest:
        yield f"leaves {network} {2 ** (int(value) - network.prefixlen)} pieces for {nodes} nodes", cure


def _networks(final: Final) -> dict[int, IPv4Network | IPv6Network]:
    found: dict[int, IPv4Network | IPv6Network] = {}
    for text in final.find(*_PODS) or ():
        try:
            network = ip_network(text, strict=False)
        except ValueError:  # the validation says it
            continue
        found.setdefault(network.version, network)
    return found
