"""The link that holds the node's address: the stack file describes it, and a patch only adds to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface

from findings import Finding
from machineconfig.checks.interfaces import address_of, named_entries, vlan_of, vlans
from machineconfig.checks.subject import Part, Subject
from machineconfig.documents import Entry
from topology import Link

_ETHERNET = 1500
"""Bytes: what the kernel gives a link that names no MTU."""
_ON = ("true", "yes", "on")


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
    """No patch gives the link of the node's address another MTU, bond, address or DHCP: the stack file says them."""
    own, link = _own(subject), subject.topology.link_of(subject.node)
    if own is None:
        return
    for part, entry, name in named_entries(subject):
        if name.text != subject.topology.interface_of(subject.node) or entry is own.entry:
            continue
        if link is not None:
            place = own.part.place_of(own.entry)
            yield from _mtu(subject, place, part, entry, link.mtu or _ETHERNET, "the link's mtu")
            yield from _bond(subject, own, part, entry, link)
        for holder in _holders(entry, link):
            yield from _addresses(subject, own, part, holder)
            if link is not None and link.vlan is not None:
                mtu = link.vlan.mtu or link.mtu or _ETHERNET
                yield from _mtu(subject, own.place, part, holder, mtu, "the mtu of the link's vlan")
                yield from _dhcp(subject, own, part, holder)


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
    return [vlan for vlan in vlans(entry) if vlan_of(vlan) == link.vlan.id]


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
        if address is None or others or _canonical(item.text) == _own_address(subject):
            continue
        message = f"gives {part.shown(item)} to the link of {own.place}, which has {_own_address(subject)}"
        yield subject.finding(part, item, message, "leave it out, or put it on another interface or VLAN")


def _dhcp(subject: Subject, own: _Own, part: Part, vlan: Entry) -> Iterator[Finding]:
    dhcp = vlan.get("dhcp")
    if dhcp is not None and dhcp.text.lower() in _ON:
        message = f"turns on DHCP on the link of {own.place}, which has {_own_address(subject)} from the topology"
        yield subject.finding(part, dhcp, message, "leave it out")


def _canonical(text: str) -> str:
    return str(IPv4Interface(text))


def _given(holder: Entry) -> tuple[Entry, ...]:
    addresses, cidr = holder.get("addresses"), holder.get("cidr")
    return (*(addresses.items if addresses else ()), *([cidr] if cidr else ()))
