"""The types of single values: here raw text becomes an address, a network, a name, or is refused with a cure."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Annotated, Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, PlainValidator, StrictBool, StrictInt, WithJsonSchema
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function

from findings import show
from topology.addresses import is_nobodys
from topology.endpoint import Endpoint
from topology.model import refuse
from topology.versions import parse_contract, parse_version
from versioning import Contract, Version

T = TypeVar("T")
LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
DOMAIN = rf"{LABEL}(\.{LABEL})*"


def text(raw: object, what: str) -> str:
    """Return ``raw`` if it is one line of text that is not empty; refuse anything else as not being ``what``."""
    if not isinstance(raw, str) or not raw.strip():
        refuse(f"is not {what}", f"write {what}" + (" in quotes" if isinstance(raw, bool | int | float) else ""))
    if len(raw.splitlines()) > 1:
        refuse("has more than one line", f"write {what} in one line", hidden=True)
    return raw


def matching(pattern: str, what: str, cure: str, wrong: str = "") -> Callable[[object], str]:
    """Return what takes text of a pattern; it refuses other text as not being ``what``, or in the words ``wrong``."""

    def parse(raw: object) -> str:
        given = text(raw, what)
        if not re.fullmatch(pattern, given):
            refuse(wrong or f"is not {what}", cure)
        return given

    return parse


def parse_ip(raw: object) -> IPv4Address | IPv6Address:
    """Take an address of either family; refuse one with a prefix length, and one no machine can have."""
    if isinstance(raw, IPv4Address | IPv6Address):
        return raw
    try:
        address = ip_address(text(raw, "an IP address"))
    except ValueError:
        refuse("is not an IP address", "write an address alone, such as 192.168.1.121, without a prefix length")
    if is_nobodys(address):
        refuse("is an address no machine can have", "write the address of one machine")
    return address


def parse_address(raw: object) -> IPv4Address:
    """Take an IPv4 address."""
    address = parse_ip(raw)
    if not isinstance(address, IPv4Address):
        refuse("is an IPv6 address", "write an IPv4 address: nodes, gateway and VIP are reached over IPv4")
    return address


def parse_any_network(raw: object) -> IPv4Network | IPv6Network:
    """Take a network of either family in CIDR form; refuse one with host bits and one without a prefix length."""
    if isinstance(raw, IPv4Network | IPv6Network):
        return raw
    given = text(raw, "a network")
    try:
        network = ip_network(given, strict=False)
    except ValueError:
        refuse("is not a network", "write it as address and prefix length, such as 192.168.1.0/24")
    if "/" not in given:
        refuse("has no prefix length", "write it as address and prefix length, such as 192.168.1.0/24")
    if ip_address(given.split("/")[0]) != network.network_address:
        refuse("is not the start of a network", f"write {network}")
    return network


def parse_network(raw: object) -> IPv4Network:
    """Take an IPv4 network in CIDR form."""
    network = parse_any_network(raw)
    if not isinstance(network, IPv4Network):
        refuse("is an IPv6 network", "write an IPv4 network: nodes are reached over IPv4")
    return network


def parse_host(raw: object) -> str:
    """Take a DNS name or an IP address."""
    given = text(raw, "a DNS name or an IP address")
    try:
        ip_address(given)
    except ValueError:
        if len(given) > 253 or not re.fullmatch(DOMAIN, given) or re.fullmatch(r"[0-9.]+", given):
            refuse("is neither a DNS name nor an IP address", "write one, such as k8s.example.net or 192.168.1.1")
    return given


def url_of(raw: object, what: str, form: str) -> SplitResult:
    """Return the parts of a URL; refuse what is none, and one with a user in it: no credentials in a stack file."""
    given = text(raw, what)
    try:
        url = urlsplit(given)
        user, _ = url.username, url.port  # each may raise
    except ValueError:
        refuse(f"is not {what}", form, hidden="@" in given)
    if user is not None:
        refuse("is a URL with a user in it", f"leave the user out; {form}", hidden=True)
    return url


def parse_https(raw: object) -> str:
    """Take an ``https://`` URL with a host, without user, query or fragment, and leave it as it is written.

    What compares such a URL as text, as tokens are with their issuer's, tells ``https://a/`` from ``https://a``.
    """
    what, form = "an https:// URL", "write it as https://host or https://host:port"
    url, given = url_of(raw, what, form), str(raw)
    if url.scheme != "https" or not url.hostname or url.query or url.fragment or re.search(r"\s", given):
        refuse(f"is not {what}", form)
    return given


def parse_proxy(raw: object) -> str:
    """Take the URL of a proxy, with its port."""
    what, form = "the URL of a proxy", "write it as http://proxy.example.net:3128"
    url = url_of(raw, what, form)
    if (
        url.scheme not in ("http", "https")
        or not url.hostname
        or not url.port
        or url.path not in ("", "/")
        or url.query
    ):
        refuse(f"is not {what}", form)
    return str(raw)


def parse_endpoint(raw: object) -> Endpoint:
    """Take ``https://host:port``; refuse another scheme, no host, no port, a path."""
    if isinstance(raw, Endpoint):
        return raw
    form = "write it as https://host:6443"
    url = url_of(raw, "an https:// URL", form)
    if url.scheme != "https":
        refuse("is not an https:// URL", form)
    if not url.hostname:
        refuse("has no host", form)
    if not url.port:
        refuse("has no port", f"{form} (a URL without one means 443, and Kubernetes listens on 6443)")
    if url.path not in ("", "/") or url.query or url.fragment:
        refuse("has more than a host and a port", form)
    host = url.netloc.rpartition(":")[0].strip("[]")
    if not _is_host(host):
        refuse("has a host that is neither a DNS name nor the IP address of a machine", form)
    return Endpoint(host, url.port, str(raw))


def _is_host(host: str) -> bool:
    try:
        return not is_nobodys(ip_address(host))
    except ValueError:
        return len(host) <= 253 and bool(re.fullmatch(f"(?i:{DOMAIN})", host)) and not re.fullmatch(r"[0-9.]+", host)


class OneOrMany:
    """Takes a single value where a list is meant, and says so in the JSON schema."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Put a single value into a list before the list is checked."""
        return no_info_before_validator_function(_listed, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Allow what the list holds, or the list."""
        many = handler(core)
        return {"anyOf": [many["items"], many]}


def _listed(raw: object) -> object:
    return [raw] if isinstance(raw, str) else raw


def distinct(values: tuple[T, ...]) -> tuple[T, ...]:
    """Refuse a list that holds the same value twice: most of Talos's lists would keep both."""
    again = next((value for at, value in enumerate(values) if value in values[:at]), None)
    if again is not None:
        refuse(f"has {show(again)} twice", "write it once", hidden=True)
    return values


def sorted_tuple(values: tuple[str, ...]) -> tuple[str, ...]:
    """Put a list into its one order."""
    return tuple(sorted(values))


def typed(parse: Callable[[object], T], example: str = "", pattern: str = "", **schema: Any) -> Any:
    """Return the annotations of a value: how it is parsed and how the JSON schema describes it."""
    examples = {"examples": [example]} if example else {}
    form = {"pattern": f"^{pattern}$"} if pattern else {}
    return (PlainValidator(parse), WithJsonSchema({"type": "string", **examples, **form, **schema}))


_CIDR = r"[0-9a-fA-F.:]+/[0-9]{1,3}"
_NAME_CURE = "use at most 63 lower-case letters, digits and hyphens, with a letter or digit at both ends (RFC 1123)"
_INTERFACE_CURE = "write the kernel's name of it, such as eth0 or enp3s0, at most 15 characters"

Text = Annotated[str, *typed(lambda raw: text(raw, "text"), minLength=1)]
Flag = StrictBool
Whole = StrictInt
Name = Annotated[str, *typed(matching(LABEL, "a name", _NAME_CURE), "", LABEL)]
Domain = Annotated[str, *typed(matching(DOMAIN, "a DNS name", "write one such as cluster.local"), "cluster.local")]
Interface = Annotated[
    str, *typed(matching(r"[^\s/:]{1,15}", "a network interface", _INTERFACE_CURE), "eth0", r"[^\s/:]{1,15}")
]
Host = Annotated[str, *typed(parse_host, "k8s.example.net")]
Https = Annotated[str, *typed(parse_https, "https://example.net", r"https://.+")]
Address = Annotated[IPv4Address, *typed(parse_address, "192.168.1.121")]
AnyAddress = Annotated[IPv4Address | IPv6Address, *typed(parse_ip, "192.168.1.1")]
Network = Annotated[IPv4Network, *typed(parse_network, "192.168.1.0/24", _CIDR)]
AnyNetwork = Annotated[IPv4Network | IPv6Network, *typed(parse_any_network, "10.244.0.0/16", _CIDR)]
VersionValue = Annotated[Version, *typed(parse_version, "v1.13.9", r"v[0-9]+\.[0-9]+\.[0-9]+")]
ContractValue = Annotated[Contract, *typed(parse_contract, "v1.13", r"v[0-9]+\.[0-9]+")]
EndpointValue = Annotated[Endpoint, *typed(parse_endpoint, "https://k8s.example.net:6443", r"https://.+:[0-9]+/?")]
