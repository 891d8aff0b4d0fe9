"""The address of the Kubernetes API."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address


@dataclass(frozen=True)
class Endpoint:
    """Where the Kubernetes API is reached by everybody: a VIP, a load balancer or a DNS name. Not for the Talos API."""

    host: str
    port: int
    given: str = ""
    """The URL as it is in the stack file: Kubernetes names it as the issuer of its tokens, letter by letter."""

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
