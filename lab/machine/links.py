"""What a configuration says of network links: addresses, shared addresses, and whether the machine stays reachable."""

from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase

from lab.machine.documents import Document, bare_address, section

_LINKS = ("LinkConfig", "BondConfig", "VLANConfig", "BridgeConfig", "DummyLinkConfig")


def addresses(documents: Sequence[Document]) -> tuple[str, ...]:
    """The static addresses of interfaces, bonds and VLANs, without their prefix lengths."""
    old = (address for part in _parts(documents) for address in part.get("addresses") or ())
    links = (document for document in documents if document.get("kind") in _LINKS)
    new = (section(entry).get("address") for document in links for entry in document.get("addresses") or ())
    return tuple(bare_address(value) for value in (*old, *new) if value)


def shared(documents: Sequence[Document]) -> tuple[str, ...]:
    """The addresses that control planes hold in turn."""
    old = (section(part.get("vip")).get("ip") for part in _parts(documents))
    new = (document.get("name") for document in documents if document.get("kind") == "Layer2VIPConfig")
    return tuple(str(ip) for ip in (*old, *new) if ip)


def why_lost(documents: Sequence[Document], ports: Collection[str]) -> str:
    """Why a machine with these ports (by bus path) would lose its address; nothing where it keeps it.

    Hardware without a list of ports has whatever is asked for.
    """
    if any(part.get("vip") and not part.get("addresses") and not part.get("dhcp") for part in _parts(documents)):
        return "an interface with a shared address and no address of its own"
    for interface in _interfaces(documents):
        wanted = [section(each).get("busPath") for each in section(interface.get("bond")).get("deviceSelectors") or ()]
        patterns = [str(each) for each in wanted if each]
        if ports and patterns and not any(fnmatchcase(port, pattern) for port in ports for pattern in patterns):
            return f"{interface.get('interface')} has none of the ports {', '.join(patterns)}"
    return ""


def _interfaces(documents: Sequence[Document]) -> Iterator[Document]:
    main = next((document for document in documents if "kind" not in document), {})
    for entry in section(section(main.get("machine")).get("network")).get("interfaces") or ():
        yield section(entry)


def _parts(documents: Sequence[Document]) -> Iterator[Document]:
    for interface in _interfaces(documents):
        yield interface
        yield from (section(vlan) for vlan in interface.get("vlans") or ())
