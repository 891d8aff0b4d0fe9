"""The ingress firewall as it comes out: who is kept from what without which a cluster does not live.

Talos lets in by default, and a rule then shuts its ports to everybody outside of its subnets, packets that answer the
node's own connections included. Where the default is to block, a rule opens its ports, and answers get in anyway.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from findings import Finding
from machineconfig.checks.configuration import Final

_DEFAULT = "NetworkDefaultActionConfig"
_RULE = "NetworkRuleConfig"
_ANSWERS = range(32768, 61000)
"""Ports that the kernel gives to a node's own connections."""
_MANY = 256
"""So many of them are no single service."""
_VXLAN = 4789
_EVERYBODY = "operators and this program"
_CURE = "describe the firewall in the stack file instead (firewall), or let them in"
_Span = tuple[int, int, int]
"""A network as its version, first and last address: many are compared."""
_Clients = tuple[tuple[str, _Span], ...]
"""Networks by what they are called."""


@dataclass(frozen=True)
class _Service:
    """A port of a node, and who must reach it."""

    name: str
    ports: tuple[int, ...]
    protocol: str
    clients: _Clients
    is_for_operators: bool = False
    """Whether operators must reach it too, from where the stack file does not say."""

    @property
    def shown(self) -> str:
        return f"{self.name} ({'-'.join(map(str, self.ports))}/{self.protocol})"


@dataclass(frozen=True)
class _Rule:
    """A rule of a configuration. `subnets` are each with what is not meant in it."""

    title: str
    protocol: str
    ports: tuple[range, ...]
    subnets: tuple[tuple[_Span, _Span | None], ...]

    def is_for(self, port: int, protocol: str) -> bool:
        return self.protocol == protocol and any(port in ports for ports in self.ports)

    def holds(self, client: _Span) -> bool:
        """Whether all of a network is in its subnets."""
        return any(_within(client, subnet) and not _overlap(client, without) for subnet, without in self.subnets)


@dataclass(frozen=True)
class _Firewall:
    blocks: bool
    rules: tuple[_Rule, ...]

    def of(self, service: _Service) -> list[_Rule]:
        """The rules for one of a service's ports."""
        return [rule for rule in self.rules if any(rule.is_for(port, service.protocol) for port in service.ports)]

    def lets_in(self, client: _Span, port: int, protocol: str) -> bool:
        """Whether all of a network reaches a port."""
        held = [rule.holds(client) for rule in self.rules if rule.is_for(port, protocol)]
        return any(held) if self.blocks else all(held)


def lets_in_who_must(final: Final) -> Iterator[Finding]:
    """The firewall lets nodes and operators in: to the Talos API, trustd, etcd, the Kubernetes API and the kubelet."""
    firewall = _firewall(final)
    if firewall is None:
        return
    unsaid: list[str] = []
    for service in _services(final):
        rules = firewall.of(service)
        outside = [name for name in _outside(firewall, service) if name != final.node.name]
        if outside and rules:
            message = f"{rules[-1].title} keeps {_listed(outside)} from {service.shown}"
            yield final.finding(message, _CURE, title=rules[-1].title, path=("ingress",))
        elif outside:
            unsaid.append(f"{_listed(outside)} from {service.shown}")
    if unsaid:
        message = f"blocks what no rule lets in, and keeps {', '.join(unsaid)}"
        yield final.finding(message, _CURE, title=_DEFAULT, path=("ingress",))


def lets_answers_in(final: Final) -> Iterator[Finding]:
    """No rule on the ports of a node's own connections blocks the replies: Talos does not track connections then."""
    firewall = _firewall(final)
    for rule in firewall.rules if firewall is not None and not firewall.blocks else ():
        shut = sum(len(range(max(ports.start, _ANSWERS.start), min(ports.stop, _ANSWERS.stop))) for ports in rule.ports)
        if shut >= _MANY and not rule.holds(_span("0.0.0.0/0")):
            message = (
                f"{rule.title} drops the answers to the node's own {rule.protocol.upper()} connections from outside of"
                " its subnets, such as DNS, time and images: the default is accept, and a rule then shuts its ports"
            )
            cure = "name the ports of services alone, or make the default ingress: block, which lets answers in"
            yield final.finding(message, cure, title=rule.title, path=("portSelector", "ports"))


def _services(final: Final) -> Iterator[_Service]:
    """What others must reach on a node. Where KubeSpan carries what nodes say to each other, it passes the firewall."""
    topology, own = final.topology, final.topology.firewall
    has_kubespan = _has_kubespan(final)
    nodes = () if has_kubespan else tuple((node.name, _address(int(node.address))) for node in topology.nodes)
    control = () if has_kubespan else tuple((each.name, _address(int(each.address))) for each in topology.controlplanes)
    operators = tuple((f"operators in {network}", _span(str(network))) for network in (own.talos_api if own else ()))
    yield _Service("the Talos API", (50000,), "tcp", operators + control, own is None)
    if final.node.is_controlplane:
        balancers = tuple((f"the load balancer {at}", _span(str(at))) for at in topology.api_server.load_balancers)
        yield _Service("trustd", (50001,), "tcp", nodes)
        yield _Service("etcd", (2379, 2380), "tcp", control)
        yield _Service("the Kubernetes API", (6443,), "tcp", nodes + balancers)
    yield _Service("the kubelet", (10250,), "tcp", control)
    if topology.network.cni == "flannel":
        yield _Service("the pod network", (_VXLAN,), "udp", nodes)


@lru_cache(maxsize=256)
def _outside(firewall: _Firewall, service: _Service) -> list[str]:
    """Who must reach a service and cannot; the node itself may be in it. Nodes of one role ask the same."""
    shut = firewall.blocks and service.is_for_operators and not any(rule.subnets for rule in firewall.of(service))
    return [_EVERYBODY] * shut + [
        name
        for name, client in service.clients
        if not all(firewall.lets_in(client, port, service.protocol) for port in service.ports)
    ]


def _firewall(final: Final) -> _Firewall | None:
    """The firewall of a node; None where there is none, or a secret stands for a part of it."""
    rules = final.configuration.of_kind(_RULE)
    blocks = any(each.values.get("ingress") == "block" for each in final.configuration.of_kind(_DEFAULT))
    if not (rules or blocks) or any(patch.is_secret and _RULE in patch.text for patch in final.patches):
        return None
    return _Firewall(blocks, tuple(_rule(document.title, document.values) for document in rules))


def _rule(title: str, values: dict[str, Any]) -> _Rule:
    selector = values.get("portSelector") or {}
    ports = tuple(_ports(port) for port in selector.get("ports", ()))
    subnets = ((each["subnet"], each.get("except")) for each in values.get("ingress", ()) if each.get("subnet"))
    spans = tuple((_span(subnet), _span(without) if without else None) for subnet, without in subnets)
    return _Rule(title, selector.get("protocol", ""), ports, spans)


def _has_kubespan(final: Final) -> bool:
    enabled = [document.values.get("enabled") for document in final.configuration.of_kind("KubeSpanConfig")]
    return bool(final.find("machine", "network", "kubespan", "enabled") or any(enabled))


def _ports(port: int | str) -> range:
    first, _, last = str(port).partition("-")
    return range(int(first), int(last or first) + 1)


@lru_cache(maxsize=4096)
def _span(text: str) -> _Span:
    network: IPv4Network | IPv6Network = ip_network(text, strict=False)
    return network.version, int(network.network_address), int(network.broadcast_address)


def _address(number: int) -> _Span:
    return 4, number, number


def _within(client: _Span, subnet: _Span) -> bool:
    return client[0] == subnet[0] and subnet[1] <= client[1] and client[2] <= subnet[2]


def _overlap(client: _Span, subnet: _Span | None) -> bool:
    return subnet is not None and client[0] == subnet[0] and subnet[1] <= client[2] and client[1] <= subnet[2]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"
