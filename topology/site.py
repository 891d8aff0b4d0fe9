"""What the machines of one place share of the network, and which a zone can have otherwise than the whole cluster."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from topology.model import Data, Model, refuse
from topology.values import (
    Address,
    AnyAddress,
    Flag,
    Host,
    Https,
    Name,
    Network,
    Text,
    distinct,
    matching,
    parse_proxy,
    typed,
)

_REGISTRY = r"(\*|[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?)"
_REGISTRY_CURE = "write it as image references have it, such as docker.io"

ProxyUrl = Annotated[str, *typed(parse_proxy, "http://proxy.example.net:3128")]
Registry = Annotated[str, *typed(matching(_REGISTRY, "the name of a registry", _REGISTRY_CURE), "", _REGISTRY)]
"""As image references have it, or ``*`` for all others."""
Mirrors = dict[Registry, Annotated[tuple[Https, ...], Field(min_length=1), AfterValidator(distinct)]]


def path_of(mirror: str) -> str:
    """The path of a mirror's URL; empty where containerd finds the registry at the root of the host."""
    return urlsplit(mirror).path.rstrip("/")


class Proxy(Model):
    """How machines reach what is outside of the site."""

    http: ProxyUrl | None = None
    """The proxy for http:// URLs."""
    https: ProxyUrl | None = None
    """The proxy for https:// URLs."""
    no_proxy: Annotated[tuple[Text, ...], AfterValidator(distinct)] = ()
    """More hosts to reach without the proxy; the cluster's own networks, names and endpoint always are."""

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Proxy:
        if self.http is None and self.https is None:
            refuse("names no proxy", "give http, https or both, or leave it out", hidden=True)
        return self


class Site(Model):
    """Settings of a place. Each can be left out: in a zone for the network's own, there for Talos's default."""

    gateway: Address | None = None
    """The default route of nodes whose address the platform does not give."""
    nameservers: Annotated[tuple[AnyAddress, ...], AfterValidator(distinct)] = ()
    """DNS servers of the nodes; Talos's own default when left out."""
    time_servers: Annotated[tuple[Host, ...], AfterValidator(distinct)] = ()
    """NTP servers of the nodes; Talos's own default when left out."""
    proxy: Proxy | None = None
    """The HTTP proxy of the nodes."""
    registry_mirrors: Mirrors = Field(default_factory=dict)
    """Where images of a registry are pulled from instead, in order of preference. A URL with a path is used as it is:
    it says itself where its /v2 is. To one without, containerd adds /v2."""

    @property
    def registries_with_paths(self) -> frozenset[str]:
        """The registries whose mirrors' URLs are whole, so that containerd must not add /v2 to them."""
        return frozenset(name for name, mirrors in self.registry_mirrors.items() if any(map(path_of, mirrors)))

    def over(self, other: Site) -> Site:
        """What this one says, and what it leaves out as ``other`` says it."""
        values = {key: getattr(self, key) or getattr(other, key) for key in Site.model_fields}
        return Site.model_construct(**values)


class Zone(Site):
    """A site, a rack, an availability zone. Two zones or more are a claim: the cluster survives the loss of any one."""

    network: Network | None = None
    """The subnet of its nodes, where zones are routed: each has its own, inside network.nodes."""
    registry_mirrors_of: Name | None = None
    """The zone whose registry mirrors its nodes use, where it has none of its own."""
    storage: Flag = False
    """Whether it has a vote in the storage cluster's quorum, such as a Ceph monitor."""
    data: Data = Field(default_factory=dict)
    """Values of your own for the templates of the zone's nodes."""
