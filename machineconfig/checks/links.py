"""Links that are made on others: a VLAN, and the link that carries its packets."""

from collections.abc import Iterator

from findings import Finding
from machineconfig.checks.configuration import Final
from machineconfig.paths import Path, all_at

_ETHERNET = 1500
"""Bytes: what the kernel gives a link that names no MTU."""
_DEVICES = ("machine", "network", "interfaces", "*")
_Mtu = tuple[int, str, Path]
"""Bytes, with the document and path that say it."""


def carries_its_vlans(final: Final) -> Iterator[Finding]:
    """No VLAN has larger packets than the link it is on: the kernel refuses it, and the VLAN is missing."""
    parents = _parents(final)
    for name, parent, (mtu, title, path) in _vlans(final):
        below, document, place = parents.get(parent, (_ETHERNET, "", ()))
        if mtu > below:
            said = f"in {final.place_of(place, document)}" if document else "where nothing says more"
            message = f"VLAN {name} has packets of {mtu} bytes on {parent}, which has {below} {said}"
            cure = f"give it {below} or less, or {parent} {mtu}"
            yield final.finding(message, cure, title=title, path=path, value=str(mtu))


def _parents(final: Final) -> dict[str, _Mtu]:
    """The MTU of every link that names one."""
    found: dict[str, _Mtu] = {}
    for title, path, device in final.all_at(*_DEVICES):
        if device.get("mtu"):
            found[_name(device)] = device["mtu"], title, (*path, "mtu")
    for document in final.configuration.documents:
        if document.values.get("mtu") and document.name:
            found[document.name] = document.values["mtu"], document.title, ("mtu",)
    return found


def _vlans(final: Final) -> Iterator[tuple[str, str, _Mtu]]:
    """Every VLAN that names its MTU, with the name of the link it is on."""
    for title, path, device in final.all_at(*_DEVICES):
        for below, vlan in all_at(device, "vlans", "*"):
            if vlan.get("mtu"):
                yield str(vlan.get("vlanId")), _name(device), (vlan["mtu"], title, (*path, *below, "mtu"))
    for document in final.configuration.of_kind("VLANConfig"):
        if document.values.get("mtu"):
            parent = str(document.values.get("parent", ""))
            yield document.name, parent, (document.values["mtu"], document.title, ("mtu",))


def _name(device: dict[str, object]) -> str:
    return str(device.get("interface") or "the selected interface")
