"""What is refused of a final configuration: all that Talos refuses, and what only clients or platforms notice."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_interface, ip_network
from typing import Any

from findings import Finding
from machineconfig.checks.configuration import Final
from machineconfig.paths import all_at, leaves
from topology.platforms import PLATFORMS

_SANS = ("cluster", "apiServer", "certSANs")
_MACHINE_SANS = ("machine", "certSANs")
_KUBELET = ("machine", "kubelet", "nodeIP", "validSubnets")
_ADVERTISED = ("cluster", "etcd", "advertisedSubnets")
_LISTEN = ("cluster", "etcd", "listenSubnets")
_DEVICES = ("machine", "network", "interfaces", "*")
_ADDRESSES = (
    *((*part, *key) for part in (_DEVICES, (*_DEVICES, "vlans", "*")) for key in (("addresses", "*"), ("cidr",))),
    ("addresses", "*", "address"),
)
"""Where a main document and the others give the machine addresses."""
_ENDPOINT_IS_ADDED = (1, 12, 0)
"""From this release on Talos itself puts the endpoint's host into the API server's certificate."""


def is_what_talos_takes(final: Final) -> Iterator[Finding]:
    """The node would take the configuration: Talos's own validation finds no error."""
    yield from map(final.refused, final.validated[0])


def is_what_talos_takes_without_a_warning(final: Final) -> Iterator[Finding]:
    """The node would take the configuration without a warning, such as one of a deprecated field."""
    yield from map(final.refused, final.validated[1])


def names_every_address_of_the_api(final: Final) -> Iterator[Finding]:
    """The API server's certificate names everything that kubectl may connect to: endpoint, VIP, load balancers."""
    if not final.node.is_controlplane:
        return
    topology, given = final.topology, _names(final.find(*_SANS))
    if final.configuration.release >= _ENDPOINT_IS_ADDED:
        given.add(_name(topology.endpoint.host))
    clients = [topology.endpoint.host, topology.network.vip, *topology.api_server.load_balancers]
    for client in dict.fromkeys(_name(each) for each in (*clients, *topology.api_server.cert_sans) if each):
        if client not in given:
            message = f"cluster.apiServer.certSANs does not name {client}, where clients find the API"
            yield final.finding(message, f"add {client} to it, or leave it to 60-certificates", path=_SANS)


def names_every_address_of_the_node(final: Final) -> Iterator[Finding]:
    """The machine's certificate names the address at which talosctl and this program find it."""
    address = str(final.node.address)
    if address not in _names(final.find(*_MACHINE_SANS)) | set(_static_addresses(final)):
        message = f"machine.certSANs does not name {address}, where talosctl finds the node"
        yield final.finding(message, f"add {address} to it, or leave it to 60-certificates", path=_MACHINE_SANS)


def lets_kubelet_choose_the_nodes_address(final: Final) -> Iterator[Finding]:
    """kubelet's subnets contain the node's address, and on a control plane not the VIP, which moves."""
    yield from _chosen(final, _KUBELET, "kubelet")


def lets_etcd_choose_the_nodes_address(final: Final) -> Iterator[Finding]:
    """etcd's subnets contain the node's address and not the VIP, which moves."""
    if final.node.is_controlplane:
        yield from _chosen(final, _ADVERTISED, "etcd")
        if final.find(*_LISTEN):  # else etcd listens where it advertises
            yield from _chosen(final, _LISTEN, "etcd")


def is_as_small_as_the_platform_wants(final: Final) -> Iterator[Finding]:
    """The configuration fits into the platform's user data, on platforms that use it."""
    limit = PLATFORMS[final.topology.platform.kind].user_data
    if limit is None:
        return
    size = len(base64.b64encode(final.text.encode()))
    if size > limit:
        largest = sorted(_sizes(final.configuration.v1alpha1), key=lambda pair: -pair[1])
        keys = ", ".join(f"{key} ({count} bytes)" for key, count in largest[:3])
        message = f"has {size} bytes as base64, and {final.topology.platform.kind} takes {limit}; the largest: {keys}"
        path = tuple(largest[0][0].split(".")) if largest else ()
        yield final.finding(message, "install what is large after the cluster is up", path=path)


def _sizes(values: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """About how many bytes each key of machine and cluster takes."""
    for part in ("machine", "cluster"):
        for key, value in (values.get(part) or {}).items():
            yield f"{part}.{key}", sum(len(str(leaf)) + 1 for _, leaf in leaves(value))


def _chosen(final: Final, path: tuple[str, ...], who: str) -> Iterator[Finding]:
    subnets, where = [str(each) for each in final.find(*path) or ()], ".".join(path)
    address, vip = final.node.address, final.topology.network.vip
    if not subnets:  # then Talos chooses, by rules of its own
        if vip is not None and final.node.is_controlplane:
            message = f"{where} is gone, so that {who} may choose the VIP {vip}, which moves"
            yield final.finding(message, f'write ["{_network(final)}", "!{vip}/32"], or leave it as it was', path=path)
        return
    if not _matches(address, subnets):
        message = f"{where} leaves {who} no address: {', '.join(subnets)} is not for {address}"
        cure = f"let it contain the node's network, {_network(final)}, and not exclude {address}"
        yield final.finding(message, cure, path=path, value=_blamed(address, subnets, "!"))
    if vip is not None and final.node.is_controlplane and _matches(vip, subnets):
        message = f"{where} lets {who} choose the VIP {vip}, which moves"
        yield final.finding(message, f'add "!{vip}/32"', path=path, value=_blamed(vip, subnets, ""))


def _blamed(address: IPv4Address, subnets: Iterable[str], mark: str) -> str:
    """The subnet, of those that exclude or those that do not, that an address is in; the first one without any."""
    alike = [each for each in subnets if each.startswith("!") is bool(mark)]
    return next((each for each in alike if _matches(address, [each.removeprefix("!")])), alike[0] if alike else "")


def _network(final: Final) -> str:
    return str(final.topology.network.network_of(final.node.address) or f"{final.node.address}/32")


def _matches(address: IPv4Address, subnets: Iterable[str]) -> bool:
    """As Talos filters: inside one of the subnets if there are any, and in none of those with a `!`."""
    known = [(each.startswith("!"), network) for each in subnets if (network := _network_of(each)) is not None]
    wanted = [network for excluded, network in known if not excluded]
    excludes = [network for excluded, network in known if excluded]
    return (not wanted or any(address in each for each in wanted)) and not any(address in each for each in excludes)


def _network_of(subnet: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(subnet.removeprefix("!"), strict=False)
    except ValueError:  # the validation says it
        return None


def _static_addresses(final: Final) -> Iterator[str]:
    """The addresses that the configuration itself gives the machine: Talos puts them into its certificate."""
    documents = [document.values for document in final.configuration.documents]
    for _, text in (found for values in documents for place in _ADDRESSES for found in all_at(values, *place)):
        try:
            yield str(ip_interface(str(text)).ip)
        except ValueError:
            continue


def _names(values: Iterable[object] | None) -> set[str]:
    return {_name(value) for value in values or ()}


def _name(value: object) -> str:
    text = str(value).lower()
    try:
        return str(ip_address(text))
    except ValueError:
        return text
