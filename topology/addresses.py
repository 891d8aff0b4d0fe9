"""Addresses that no machine and no network of a cluster can have."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

_UNUSABLE = {
    kind: tuple(map(ip_network, ranges.split()))
    for kind, ranges in {
        "loopback": "127.0.0.0/8 ::1/128",
        "link-local": "169.254.0.0/16 fe80::/10",
        "multicast": "224.0.0.0/4 ff00::/8",
        "unspecified": "0.0.0.0/8 ::/128",
        # Of IPv6, 2000::/3 is given out and fc00::/7 is private; whatever else is left over is no network's.
        "reserved": "240.0.0.0/4 ::/3 4000::/2 8000::/2 c000::/3 e000::/4 f000::/5 f800::/6 fe00::/9 fec0::/10",
    }.items()
}
"""Addresses that packets are not routed to (IANA's registries of special-purpose addresses)."""
_OF_ONE_MACHINE = ("loopback", "link-local")


def unusable(network: IPv4Network | IPv6Network) -> str | None:
    """The addresses of a network that no packet is routed to, in words; None where it has none."""
    for kind, ranges in _UNUSABLE.items():
        for each in ranges:
            if each.version == network.version and each.overlaps(network):
                return f"addresses of {each}, which are {kind}"
    return None


def is_nobodys(address: IPv4Address | IPv6Address) -> bool:
    """Whether no machine has such an address, not even for itself or on one link."""
    kind = next((kind for kind, ranges in _UNUSABLE.items() if any(address in each for each in ranges)), None)
    return kind is not None and kind not in _OF_ONE_MACHINE
