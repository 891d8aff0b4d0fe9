"""Addresses: none that is not the topology's, and no other way to get one."""

from collections.abc import Iterator

from findings import Finding
from machineconfig.checks.interfaces import address_of, entries, named_entries, vlan_of
from machineconfig.checks.subject import Part, Subject
from machineconfig.deletes import MARK
from machineconfig.documents import Entry

ON = ("true", "yes", "on")


def has_the_addresses_of_the_topology(subject: Subject) -> Iterator[Finding]:
    """An address of the node networks is the node's own: the topology is its only source."""
    for part, entry in _addresses(subject):
        address = address_of(entry.text)
        networks = subject.topology.network.nodes
        if address is not None and address != subject.node.address and any(address in each for each in networks):
            message = f"gives {part.shown(entry)}; the topology says {subject.node.address}"
            cure = f"leave it out of the patch, or change the address of {subject.node.name} in the stack file"
            yield subject.finding(part, entry, message, cure)


def leaves_dhcp_off_where_the_address_is_given(subject: Subject) -> Iterator[Finding]:
    """The interface that has the node's address from the topology asks no DHCP server for another."""
    own = subject.topology.interface_of(subject.node)
    for part, entry, name in named_entries(subject):
        dhcp = entry.get("dhcp")
        if name.text == own and dhcp is not None and dhcp.text.lower() in ON:
            message = f"turns on DHCP on {part.shown(name)}, which has {subject.node.address} from the topology"
            yield subject.finding(part, dhcp, message, "leave it out")


def has_the_vip_on_control_planes_only(subject: Subject) -> Iterator[Finding]:
    """Talos refuses a VIP on a worker; on a control plane it is the topology's."""
    vip = subject.topology.network.vip
    own = next((part.place_of(entry) for part, entry, _ in _vips(subject) if address_of(entry.text) == vip), "")
    for part, entry, _ in _vips(subject):
        shown = f"the VIP {part.shown(entry)}" if entry.text else "a VIP"
        if not subject.node.is_controlplane:
            message = f"gives {shown} to a worker"
            yield subject.finding(part, entry, message, "move it to a patch in controlplane/")
        elif address_of(entry.text) != vip:
            says = f"says {vip}{f' ({own})' if own else ''}" if vip else "has none"
            message = f"gives {shown}; the topology {says}"
            yield subject.finding(part, entry, message, "set network.vip in the stack file instead")


def gives_the_vip_once(subject: Subject) -> Iterator[Finding]:
    """The VIP is on one link, and given in one form: two would both answer for it."""
    own: tuple[Part, Entry, str] | None = None
    for part, entry, link in _vips(subject) if subject.node.is_controlplane else ():
        if link and address_of(entry.text) == subject.topology.network.vip:
            own = own or (part, entry, link)
            if link != own[2]:
                first = f"{own[0].place_of(own[1])} gives it to {own[2]}"
                message = f"gives the VIP {part.shown(entry)} a second time, to {link}: {first}"
                yield subject.finding(part, entry, message, "leave it out: the stack file says where the VIP is")


def _addresses(subject: Subject) -> Iterator[tuple[Part, Entry]]:
    for part, entry in entries(subject):
        for below in (entry, *entry.listed("vlans")):
            yield from ((part, item) for item in below.listed("addresses"))
    for part in subject.typed:
        for item in part.document.root.listed("addresses"):
            address = item.get("address")
            if address is not None:
                yield part, address


def _vips(subject: Subject) -> Iterator[tuple[Part, Entry, str]]:
    """Every VIP, with its link where one names it; a document is no link of machine.network.interfaces."""
    for part, entry in entries(subject):
        name = entry.get("interface")
        for below in (entry, *entry.listed("vlans")):
            vip = below.get("vip")
            if vip is not None and not vip.is_empty and vip.get(MARK) is None:
                link = "" if name is None else name.text if below is entry else f"{name.text}.{vlan_of(below)}"
                yield part, vip.get("ip") or vip, link
    for part in subject.of_kind("Layer2VIPConfig", "HCloudVIPConfig"):
        address, on = part.document.root.get("name"), part.document.root.get("link")
        if address is not None:
            yield part, address, f"{on.text if on else 'a link'} in {part.document.kind}"
