"""Interfaces: one description for each, however it is named, selected or written."""

from collections.abc import Callable, Iterable, Iterator
from ipaddress import AddressValueError, IPv4Address, IPv4Interface, NetmaskValueError

from findings import Finding
from machineconfig.checks.subject import Part, Subject
from machineconfig.documents import Entry
from machinery import ConfigError
from machinery.yaml import ScalarNode, plain
from topology.platforms import PLATFORMS

_INTERFACES = ("machine", "network", "interfaces")
_LOGICAL = ("bond", "bridge", "dummy", "wireguard")
_HARDWARE = (("hardwareAddr",), ("permanentAddr",))


def describes_each_interface_once(subject: Subject) -> Iterator[Finding]:
    """No interface is named twice in one list, and no two entries with one selector, which stay two, set the same."""
    selected: dict[str, list[tuple[Part, Entry]]] = {}
    for part, interfaces in subject.fields(*_INTERFACES):
        yield from _named_twice(subject, part, interfaces.items, "interface", lambda name: name.text)
        for entry in interfaces.items:
            selector = entry.get("deviceSelector")
            if selector is not None:
                others = selected.setdefault(_written(selector), [])
                yield from _set_twice(subject, part, entry, others)
                others.append((part, entry))


def describes_each_vlan_once(subject: Subject) -> Iterator[Finding]:
    """No VLAN of an interface is described twice in one list, however its number is written."""
    for part, entry in entries(subject):
        yield from _named_twice(subject, part, entry.listed("vlans"), "vlanId", _number)


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
    """An interface or VLAN of machine.network.interfaces has no document of a link or of DHCP beside it."""
    named: dict[str, tuple[Part, Entry]] = {}
    for part, entry, name in named_entries(subject):
        named.setdefault(name.text, (part, entry))
        for vlan in entry.listed("vlans"):
            named.setdefault(f"{name.text}.{vlan_of(vlan)}", (part, vlan))
    for part in subject.of_kind(
        "LinkConfig", "DHCPv4Config", "DHCPv6Config", "BondConfig", "VLANConfig", "BridgeConfig"
    ):
        found = next((each for each in _links(part) if each in named), None)
        if found is not None:
            other, entry = named[found]
            message = f"{part.title} describes an interface that {other.place_of(entry)} describes too"
            yield subject.finding(part, None, message, "describe the interface in one place")


def _links(part: Part) -> Iterator[str]:
    """The names of the link that a document describes: its own, and for a VLAN the one by its parent and number."""
    yield part.document.name
    parent, number = part.document.root.get("parent"), part.document.root.get("vlanID")
    if parent is not None and number is not None:
        yield f"{parent.text}.{_number(number)}"


def entries(subject: Subject) -> Iterator[tuple[Part, Entry]]:
    """Every entry of machine.network.interfaces."""
    for part, interfaces in subject.fields(*_INTERFACES):
        for entry in interfaces.items:
            yield part, entry


def named_entries(subject: Subject) -> Iterator[tuple[Part, Entry, Entry]]:
    """Those of them that name their interface, with the name."""
    for part, entry in entries(subject):
        name = entry.get("interface")
        if name is not None:
            yield part, entry, name


def vlan_of(vlan: Entry) -> object:
    """A VLAN's number as Talos reads it, however it is written; None without one."""
    return _number(vlan.get("vlanId"))


def _number(entry: Entry | None) -> object:
    if entry is None:
        return None
    try:
        return plain(entry.node) if isinstance(entry.node, ScalarNode) else entry.text
    except ConfigError:  # another check says it
        return entry.text


def _named_twice(
    subject: Subject, part: Part, items: Iterable[Entry], key: str, name_of: Callable[[Entry], object]
) -> Iterator[Finding]:
    """The items of one list that have the name of an earlier one under a key; `name_of` reads it."""
    known: dict[object, Entry] = {}
    for item in items:
        called = item.get(key)
        if called is not None and (first := known.setdefault(name_of(called), item)) is not item:
            what = "VLAN" if key == "vlanId" else key
            message = f"{what} {part.shown(called)} appears twice in one list, first in {part.place_of(first)}"
            yield subject.finding(part, item, message, "make one entry of them", called=called)


def address_of(text: str) -> IPv4Address | None:
    """An address without its prefix length; None for what is none."""
    try:
        return IPv4Interface(text).ip
    except (AddressValueError, NetmaskValueError, ValueError):
        return None


def _set_twice(subject: Subject, part: Part, entry: Entry, others: list[tuple[Part, Entry]]) -> Iterator[Finding]:
    """What an entry sets that one with the same selector sets too. Talos follows both, so what they add is no harm."""
    for other, first in others:
        twice = sorted(set(_settings(entry)) & set(_settings(first)))
        if twice:
            message = (
                f"two entries have the same deviceSelector, Talos does not merge them, and both set {twice[0][0]},"
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
    """An entry as it is compared: the letters of a hardware address may be of any case."""
    texts = [(each.path[len(entry.path) :], each.text) for each in entry.walk()]
    return str(sorted((str(path), text.lower() if path[-1:] in _HARDWARE else text) for path, text in texts))


def _physical(subject: Subject, key: str) -> list[tuple[Part, Entry]]:
    return [
        (part, entry)
        for part, entry in entries(subject)
        if entry.get(key) is not None and not any(entry.get(logical) for logical in _LOGICAL)
    ]


def _is_the_nodes_own(subject: Subject, entry: Entry) -> bool:
    """Whether a selected interface is surely the one that holds the node's address."""
    if PLATFORMS[subject.topology.platform.kind].one_interface or entry.get("vip") is not None:
        return True
    given = [address_of(item.text) for item in entry.listed("addresses")]
    return any(each in network for each in given if each for network in subject.topology.network.nodes)
