"""Checks of the documents about network links."""

from collections.abc import Callable
from ipaddress import ip_address

from machinery.cel import LINK, expression_problem
from machinery.checks.devices import is_wireguard_key
from machinery.checks.problems import Problems, Values

_RESERVED_TABLES = ("unspec", "default", "main", "local")


def link(values: Values, problems: Problems) -> None:
    """Check what every link document has: a name, addresses and routes."""
    if not values.get("name"):
        problems.error("name", "is missing")
    for index, address in enumerate(values.get("addresses", ())):
        prefix = address.get("address", "")
        if not prefix or ip_address(prefix.split("/")[0]).is_unspecified:
            problems.error(f"addresses[{index}].address", "must be an IP address with a prefix length")
    for index, route in enumerate(values.get("routes", ())):
        for key in ("destination", "gateway", "source"):
            if (text := route.get(key, "")) and ip_address(text.split("/")[0]).is_unspecified:
                problems.error(f"routes[{index}].{key}", "must not be unspecified: leave it out")


def bond(values: Values, problems: Problems) -> None:
    """Check a BondConfig."""
    if not values.get("links"):
        problems.error("links", "is empty")
    if "bondMode" not in values:
        problems.error("bondMode", "is missing")
    elif values["bondMode"] == "802.3ad":
        for key in ("miimon", "updelay", "downdelay"):
            if key not in values:
                problems.warn(key, "is not set for an 802.3ad bond")
    link(values, problems)


def vlan(values: Values, problems: Problems) -> None:
    """Check a VLANConfig."""
    if not 1 <= values.get("vlanID", 0) <= 4094:
        problems.error("vlanID", "must be from 1 to 4094")
    if not values.get("parent"):
        problems.error("parent", "is missing: say which link")
    link(values, problems)


def vrf(values: Values, problems: Problems) -> None:
    """Check a VRFConfig."""
    if (table := values.get("table", "unspec")) in _RESERVED_TABLES:
        problems.error("table", f"{table} is reserved")
    link(values, problems)


def wireguard(values: Values, problems: Problems) -> None:
    """Check a WireguardConfig."""
    if not is_wireguard_key(values.get("privateKey", "")):
        problems.error("privateKey", "is not base64 of 32 bytes")
    if not 0 <= values.get("listenPort", 0) <= 65535:
        problems.error("listenPort", "must be from 0 to 65535")
    for index, peer in enumerate(values.get("peers", ())):
        for key in ("publicKey", "presharedKey"):
            if (peer.get(key) or key == "publicKey") and not is_wireguard_key(peer.get(key, "")):
                problems.error(f"peers[{index}].{key}", "is not base64 of 32 bytes")
        if peer.get("persistentKeepaliveInterval", "").startswith("-"):
            problems.error(f"peers[{index}].persistentKeepaliveInterval", "must not be negative")
    link(values, problems)


def alias(values: Values, problems: Problems) -> None:
    """Check a LinkAliasConfig."""
    name = values.get("name", "")
    prefix, percent, suffix = name.partition("%")
    if not name:
        problems.error("name", "is missing")
    elif percent and (suffix != "d" or not prefix):
        problems.error("", "a pattern in name must be a prefix and %d", "name")
    match = (values.get("selector") or {}).get("match", "")
    if not match:
        problems.error("selector.match", "is missing: say which links")
    elif problem := expression_problem(match, LINK):
        problems.error("selector.match:", problem)


def ethernet(values: Values, problems: Problems) -> None:
    """Check an EthernetConfig."""
    if not values.get("name"):
        problems.error("name", "is missing")


CHECKS: dict[str, Callable[[Values, Problems], None]] = {
    "LinkConfig": link,
    "DummyLinkConfig": link,
    "BridgeConfig": link,
    "BondConfig": bond,
    "VLANConfig": vlan,
    "VRFConfig": vrf,
    "WireguardConfig": wireguard,
    "LinkAliasConfig": alias,
    "EthernetConfig": ethernet,
}
