"""Interfaces and addresses: one description for each interface, no address that is not the topology's."""

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address, IPv4Interface, NetmaskValueError

from machineconfig.checks.subject import Part, Subject
from machineconfig.documents import Entry
from machineconfig.model import Finding

_INTERFACES = ("machine", "network", "interfaces")
_LOGICAL = ("bond", "bridge", "dummy", "wireguard")
_ON = ("true", "yes", "on")
_ONE_NIC = ("proxmox",)
"""Platforms whose machines have exactly one interface: the program makes them so."""


def describes_each_interface_once(subject: Subject) -> Iterator[Finding]:
    """No interface is named twice in one list, and no two entries with one selector, which stay two, set the same."""
    selected: dict[str, list[tuple[Part, Entry]]] = {}
    for part, interfaces in subject.fields(*_INTERFACES):
        named: dict[str, Entry] = {}
        for entry in interfaces.items:
            name, selector = entry.get("interface"), entry.get("deviceSelector")
            if name is not None and name.text in named:
                first = part.place_of(named[name.text])
                message = f"interface {part.shown(name)} is described twice in one list, first in {first}"
                yield subject.finding(part, entry, message, "make one entry of them")
            if name is not None:
                named.setdefault(name.text, entry)
            if selector is not None:
                others = selected.setdefault(_written(selector), [])
                yield from _set_twice(subject, part, entry, others)
                others.append((part, entry))


def _set_twice(subject: Subject, part: Part, entry: Entry, others: list[tuple[Part, Entry]]) -> Iterator[Finding]:
    """What an entry sets that one with the same selector sets too. Talos follows both, so what they add is no harm."""
    for other, first in others:
        twice = sorted(set(_settings(entry)) & set(_settings(first)))
        if twice:
            message = (
                f"one deviceSelector stands in two entries, which Talos does not merge, and both set {twice[0][0]},"
                f" first in {other.place_of(first)}"
            )
            yield subject.finding(part, entry, message, "describe the interface in one place")
            return


def _settings(entry: Entry) -> Iterator[tuple[str, str]]:
    """What an entry sets: of a list each item, of anything else the key."""
    for child in entry.keys:
        key = str(child.path[-1])
        if key != "deviceSelector":
            items = [(key, _written(item.get("vlanId") or item)) for item in child.items]
            yield from items or [(key, "")]


def _written(entry: Entry) -> str:
    return str(sorted((str(each.path[len(entry.path) :]), each.text) for each in entry.walk()))


def names_or_selects_an_interface(subject: Subject) -> Iterator[Finding]:
    """One interface is not named in one place and selected in another: the two entries would not merge."""
    named = _physical(subject, "interface")
    for part, entry in _physical(subject, "deviceSelector"):
        if named and _is_the_nodes_own(subject, entry):
            other, first = named[0]
            name = first.get("interface")
            shown = other.shown(name) if name else ""
            message = (
                f"selects the interface that {other.place_of(first)} calls {shown}:"
                " Talos would take them for two, with the settings of both"
            )
            yield subject.finding(part, entry, message, f"write interface: {shown} instead of deviceSelector")


def does_not_mix_documents_and_fields(subject: Subject) -> Iterator[Finding]:
    """An interface of machine.network.interfaces has no LinkConfig or DHCP document beside it."""
    named = {name.text: (part, entry) for part, entry, name in _named(subject)}
    for part in subject.of_kind(
        "LinkConfig", "DHCPv4Config", "DHCPv6Config", "BondConfig", "VLANConfig", "BridgeConfig"
    ):
        if part.document.name in named:
            other, entry = named[part.document.name]
            message = f"{part.title} describes an interface that {other.place_of(entry)} describes too"
            yield subject.finding(part, None, message, "describe the interface in one place")


def has_the_addresses_of_the_topology(subject: Subject) -> Iterator[Finding]:
    """An address of the node networks is the node's own: the topology is its only source."""
    for part, entry in _addresses(subject):
        address = _address(entry.text)
        networks = subject.topology.network.nodes
        if address is not None and address != subject.node.address and any(address in each for each in networks):
            message = f"gives {part.shown(entry)}; the topology says {subject.node.address}"
            remedy = f"leave it out of the patch, or change the address of {subject.node.name} in the stack file"
            yield subject.finding(part, entry, message, remedy)


def leaves_dhcp_off_where_the_address_is_given(subject: Subject) -> Iterator[Finding]:
    """The interface that has the node's address from the topology asks no DHCP server for another."""
    own = subject.topology.interface_of(subject.node)
    for part, entry, name in _named(subject):
        dhcp = entry.get("dhcp")
        if name.text == own and dhcp is not None and dhcp.text.lower() in _ON:
            message = f"turns on DHCP on {part.shown(name)}, which has {subject.node.address} from the topology"
            yield subject.finding(part, dhcp, message, "leave it out")


def has_the_vip_on_control_planes_only(subject: Subject) -> Iterator[Finding]:
    """Talos refuses a VIP on a worker; on a control plane it is the topology's."""
    vip = subject.topology.network.vip
    for part, entry in _vips(subject):
        if not subject.node.is_controlplane:
            message = f"gives the VIP {part.shown(entry)} to a worker"
            yield subject.finding(part, entry, message, "move it to a patch in controlplane/")
        elif _address(entry.text) != vip:
            says = f"says {vip}" if vip else "has none"
            message = f"gives the VIP {part.shown(entry)}; the topology {says}"
            yield subject.finding(part, entry, message, "set network.vip in the stack file instead")


def _entries(subject: Subject) -> Iterator[tuple[Part, Entry]]:
    for part, interfaces in subject.fields(*_INTERFACES):
        for entry in interfaces.items:
            yield part, entry


def _named(subject: Subject) -> Iterator[tuple[Part, Entry, Entry]]:
    for part, entry in _entries(subject):
        name = entry.get("interface")
        if name is not None:
            yield part, entry, name


def _physical(subject: Subject, key: str) -> list[tuple[Part, Entry]]:
    return [
        (part, entry)
        for part, entry in _entries(subject)
        if entry.get(key) is not None and not any(entry.get(logical) for logical in _LOGICAL)
    ]


def _is_the_nodes_own(subject: Subject, entry: Entry) -> bool:
    """Whether a selected interface is surely the one that holds the node's address."""
    if subject.topology.platform.kind in _ONE_NIC or entry.get("vip") is not None:
        return True
    addresses = entry.get("addresses")
    given = [_address(item.text) for item in (addresses.items if addresses else ())]
    return any(each in network for each in given if each for network in subject.topology.network.nodes)


def _addresses(subject: Subject) -> Iterator[tuple[Part, Entry]]:
    for part, entry in _entries(subject):
        for below in (entry, *_vlans(entry)):
            addresses = below.get("addresses")
            yield from ((part, item) for item in (addresses.items if addresses else ()))
    for part in subject.typed:
        addresses = part.document.root.get("addresses")
        for item in addresses.items if addresses else ():
            address = item.get("address")
            if address is not None:
                yield part, address


def _vips(subject: Subject) -> Iterator[tuple[Part, Entry]]:
    for part, entry in _entries(subject):
        for below in (entry, *_vlans(entry)):
            vip = below.get("vip", "ip")
            if vip is not None:
                yield part, vip
    for part in subject.of_kind("Layer2VIPConfig"):
        name = part.document.root.get("name")
        if name is not None:
            yield part, name


def _vlans(entry: Entry) -> tuple[Entry, ...]:
    vlans = entry.get("vlans")
    return vlans.items if vlans else ()


def _address(text: str) -> IPv4Address | None:
    try:
        return IPv4Interface(text).ip
    except (AddressValueError, NetmaskValueError, ValueError):
        return None
