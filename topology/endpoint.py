"""The address of the Kubernetes API."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from topology.addresses import is_nobodys
from topology.model import refuse

_FORM = "write it as https://host:6443"
_DOMAIN = r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*"


@dataclass(frozen=True)
class Endpoint:
    """Where the Kubernetes API is reached by everybody: a VIP, a load balancer or a DNS name. Not for the Talos API."""

    host: str
    port: int
    given: str = ""
    """The URL as it stands in the stack file: Kubernetes names it as the issuer of its tokens, letter by letter."""

    @property
    def url(self) -> str:
        """``https://192.168.1.120:6443``."""
        if self.given:
            return self.given
        return f"https://[{self.host}]:{self.port}" if ":" in self.host else f"https://{self.host}:{self.port}"

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The host where it is an address; None where it is a DNS name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None

    def __str__(self) -> str:
        """Return the URL."""
        return self.url


def parse_endpoint(raw: object) -> Endpoint:
    """Take ``https://host:port``; refuse another scheme, no host, no port, a path, a user."""
    if isinstance(raw, Endpoint):
        return raw
    if not isinstance(raw, str):
        refuse("is not a URL", _FORM)
    try:
        url = urlsplit(raw)
        host, port = url.netloc.rpartition("@")[2].rpartition(":")[0].strip("[]"), url.port
    except ValueError:
        refuse("is not a URL", _FORM)
    if url.username is not None:
        refuse("is a URL with a user in it", f"leave the user out; {_FORM}", hidden=True)
    if url.scheme != "https":
        refuse("is not an https:// URL", _FORM)
    if not url.hostname:
        refuse("has no host", _FORM)
    if not port:
        refuse("has no port", f"{_FORM} (a URL without one means 443, and Kubernetes listens on 6443)")
    if url.path not in ("", "/") or url.query or url.fragment:
        refuse("has more than a host and a port", _FORM)
    if not _is_host(host):
        refuse("has a host that is neither a DNS name nor the IP address of a machine", _FORM)
    return Endpoint(host, port, raw)


def _is_host(host: str) -> bool:
    try:
        return not is_nobodys(ip_address(host))
    except ValueError:
        return len(host) <= 253 and bool(re.fullmatch(_DOMAIN, host)) and not re.fullmatch(r"[0-9.]+", host)
