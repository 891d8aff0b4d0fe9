"""The link that holds the node's address: the stack file describes it, and a patch only adds to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface

from findings import Finding
from machineconfig.checks.interfaces import address_of, entries, named_entries, vlan_of
from machineconfig.checks.network import ON
from machineconfig.checks.subject import Part, Subject
from machineconfig.documents import Entry
from topology import Link

_ETHERNET = 1500
"""Bytes: what the kernel gives a link that names no MTU."""
_METRICS = ("", "0", "1024")
"""What Talos gives a route that names no metric, however it is written."""


@dataclass(frozen=True)
class _Own:
    """The entry of the program's own patch, and the part of it that holds the address: itself or its VLAN."""

    part: Part
    entry: Entry
    holder: Entry

    @property
    def place(self) -> str:
        return self.part.place_of(self.holder)


def leaves_the_link_as_the_stack_file_has_it(subject: Subject) -> Iterator[Finding]:
    """No patch gives the link of the node's address another MTU, bond, address, default route or DHCP, or takes it."""
    own, link = _own(subject), subject.topology.link_of(subject.node)
    if own is None:
        return
    yield from _taken(subject, own)
    for part, entry, name in named_entries(subject):
        is_the_link = name.text == subject.topology.interface_of(subject.node)
        if entry is own.entry or not (is_the_link or name.text == _holder_name(subject)):
            continue
        ignored = f"makes Talos ignore the link of {own.place}, which then has no address"
        yield from _on(subject, part, entry, "ignore", ignored)
        if is_the_link and link is not None:
            place = own.part.place_of(own.entry)
            yield from _mtu(subject, place, part, entry, link.mtu or _ETHERNET, "the link's mtu")
            yield from _bond(subject, own, part, entry, link)
        for holder in _holders(entry, link) if is_the_link else [entry]:
            yield from _addresses(subject, own, part, holder)
            yield from _default_route(subject, own, part, holder)
            if link is not None and link.vlan is not None:
                mtu = link.vlan.mtu or link.mtu or _ETHERNET
                yield from _mtu(subject, own.place, part, holder, mtu, "the mtu of the link's vlan")
                asks = f"turns on DHCP on the link of {own.place}, which has {_own_address(subject)} from the topology"
                yield from _on(subject, part, holder, "dhcp", asks)


def _own(subject: Subject) -> _Own | None:
    link, address = subject.topology.link_of(subject.node), _own_address(subject)
    for part, entry, name in named_entries(subject):
        if name.text == subject.topology.interface_of(subject.node):
            for holder in _holders(entry, link):
                if address in {item.text for item in _given(holder)}:
                    return _Own(part, entry, holder)
    return None


def _holders(entry: Entry, link: Link | None) -> list[Entry]:
    """What of an entry can hold the node's address."""
    if link is None or link.vlan is None:
        return [entry]
    return [vlan for vlan in entry.listed("vlans") if vlan_of(vlan) == link.vlan.id]


def _holder_name(subject: Subject) -> str | None:
    """The link that holds the node's address, as Talos names it."""
    link, interface = subject.topology.link_of(subject.node), subject.topology.interface_of(subject.node)
    return f"{interface}.{link.vlan.id}" if link is not None and link.vlan is not None else interface


def _own_address(subject: Subject) -> str:
    return f"{subject.node.address}/{subject.topology.prefix_length_of(subject.node)}"


def _mtu(subject: Subject, place: str, part: Part, entry: Entry, wanted: int, key: str) -> Iterator[Finding]:
    mtu = entry.get("mtu")
    if mtu is not None and mtu.text not in ("", str(wanted)):
        message = f"gives packets of {part.shown(mtu)} bytes to the link of {place}, which has {wanted}"
        yield subject.finding(part, mtu, message, f"set {key} in the stack file instead")


def _bond(subject: Subject, own: _Own, part: Part, entry: Entry, link: Link) -> Iterator[Finding]:
    """What a patch says of the bond otherwise than the stack file; options that it cannot say are free."""
    bond = entry.get("bond")
    if bond is None or link.bond is None:
        return
    options = link.bond.model_dump(by_alias=True, exclude_none=True, exclude={"members"})
    for option in bond.keys:
        key = str(option.path[-1])
        says = key in ("interfaces", "deviceSelectors") or (key in options and str(options[key]) != option.text)
        if says and not option.is_empty:
            message = f"gives {part.key(option)} to the bond of {own.part.place_of(own.entry)}"
            yield subject.finding(part, option, message, "set it in the link's bond in the stack file instead")


def _addresses(subject: Subject, own: _Own, part: Part, holder: Entry) -> Iterator[Finding]:
    """A second IPv4 address. One of the node networks that is not the node's is another check's."""
    for item in _given(holder):
        address = address_of(item.text)
        others = address != subject.node.address and subject.topology.network.network_of(address) if address else None
        if address is None or others or str(IPv4Interface(item.text)) == _own_address(subject):
            continue
        message = f"gives {part.shown(item)} to the link of {own.place}, which has {_own_address(subject)}"
        yield subject.finding(part, item, message, "leave it out, or put it on another interface or VLAN")


def _on(subject: Subject, part: Part, entry: Entry, key: str, message: str) -> Iterator[Finding]:
    """A switch that is turned on."""
    switch = entry.get(key)
    if switch is not None and switch.text.lower() in ON:
        yield subject.finding(part, switch, message, "leave it out")


def _default_route(subject: Subject, own: _Own, part: Part, holder: Entry) -> Iterator[Finding]:
    """A second default route of IPv4 that no metric puts behind the first."""
    for first in _default_gateways(own.holder):
        for gateway in _default_gateways(holder):
            if gateway.text != first.text:
                message = (
                    f"gives a second default route, through {part.shown(gateway)}, to the link of {own.place},"
                    f" whose gateway is {first.text}"
                )
                cure = "set the gateway in the stack file instead, or give the route a metric above 1024"
                yield subject.finding(part, gateway, message, cure)


def _default_gateways(holder: Entry) -> Iterator[Entry]:
    for route in holder.listed("routes"):
        network, gateway, metric = route.get("network"), route.get("gateway"), route.get("metric")
        is_first = (network is None or network.text in ("", "0.0.0.0/0")) and (not metric or metric.text in _METRICS)
        if is_first and gateway is not None and address_of(gateway.text):
            yield gateway


def _taken(subject: Subject, own: _Own) -> Iterator[Finding]:
    """A bond or bridge of a patch that takes the link as one of its ports; a port has no address."""
    name = _holder_name(subject)
    for part, taker, ports in _takers(subject):
        for port in ports:
            if port.text == name:
                message = f"makes the link of {own.place} a port of {taker}, and a port has no address of its own"
                yield subject.finding(part, port, message, "take another interface")


def _takers(subject: Subject) -> Iterator[tuple[Part, str, tuple[Entry, ...]]]:
    """What has ports: its name, and them."""
    for part, entry in entries(subject):
        name = entry.get("interface")
        for kind in ("bond", "bridge"):
            yield part, part.shown(name) if name else f"a {kind}", entry.listed(kind, "interfaces")
    for part in subject.of_kind("BondConfig", "BridgeConfig"):
        yield part, part.title, part.document.root.listed("links")


def _given(holder: Entry) -> tuple[Entry, ...]:
    cidr = holder.get("cidr")
    return (*holder.listed("addresses"), *([cidr] if cidr else ()))
