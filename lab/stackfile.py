"""What the lab reads of a stack file: only what a real world would notice, that is names, addresses and disks.

What the file means is the program's business, so anything odd is passed over here and refused there.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import stackfile
from lab import bare_metal

FACTORY = "https://factory.talos.dev"
API_PORT = 6443
TALOS_PORT = 50000
ETCD_PORTS = (2379, 2380)
FACTORY_ADDRESS = "192.0.2.1"
"""Where names of the Image Factory lead inside the namespace: an address kept for documentation."""
NOWHERE_ADDRESS = "192.0.2.2"
"""Where other names lead: nothing listens there."""


class StackError(Exception):
    """A stack file the lab can make no world of."""


@dataclass(frozen=True)
class StackFile:
    """The facts of one stack file."""

    name: str
    path: Path
    cluster: Mapping[str, Any] = field(repr=False)
    """The topology as it stands in the file."""

    @property
    def platform(self) -> str:
        """The platform's kind, empty where the file does not say."""
        return str(_mapping(self.cluster.get("platform")).get("kind", ""))

    @property
    def factory(self) -> str:
        """The URL of the Image Factory."""
        return str(self.cluster.get("imageFactory") or FACTORY)

    @property
    def nodes(self) -> list[Mapping[str, Any]]:
        """The entries of the node list that have a name and an address."""
        found = self.cluster.get("nodes")
        entries = found if isinstance(found, list) else []
        return [entry for entry in entries if isinstance(entry, Mapping) and entry.get("name") and _address(entry)]

    @property
    def addresses(self) -> list[IPv4Address]:
        """Every address that something must answer at."""
        network = _mapping(self.cluster.get("network"))
        hosts = [str(network.get("vip", "")), _host(self.factory), _host(str(self.cluster.get("endpoint", "")))]
        found = [_address(entry) for entry in self.nodes] + [_parse(host) for host in [*hosts, *self.load_balancers]]
        return [address for address in found if address]

    @property
    def load_balancers(self) -> list[str]:
        """The addresses of the load balancer in front of the Kubernetes API."""
        found = _mapping(self.cluster.get("apiServer")).get("loadBalancers")
        return [str(address) for address in found if _parse(str(address))] if isinstance(found, list) else []

    @property
    def endpoint_port(self) -> int:
        """The port of the Kubernetes API as everybody reaches it."""
        return _port(str(self.cluster.get("endpoint", ""))) or API_PORT

    @property
    def control_planes(self) -> list[str]:
        """The addresses of the control planes."""
        return [str(entry["address"]) for entry in self.nodes if entry.get("role") == "controlplane"]

    @property
    def factory_port(self) -> int:
        """The port of the Image Factory."""
        return _port(self.factory) or (80 if self.factory.startswith("http://") else 443)

    @property
    def listeners(self) -> Iterator[tuple[str, int]]:
        """Every address and port that the lab listens at, names of hosts left out."""
        if _parse(_host(self.factory)):
            yield _host(self.factory), self.factory_port
        for entry in self.nodes:
            yield str(entry["address"]), TALOS_PORT
        for address in self.control_planes:
            yield from ((address, port) for port in (API_PORT, *ETCD_PORTS))
        if vip := _parse(str(_mapping(self.cluster.get("network")).get("vip"))):
            yield str(vip), API_PORT
        yield from ((address, self.endpoint_port) for address in self.load_balancers)

    def hardware(self) -> list[dict[str, Any]]:
        """Return the machines that are there before anything runs: none where the platform makes them."""
        if self.platform != "bare-metal":
            return []
        talos = str(_mapping(self.cluster.get("versions")).get("talos", ""))
        platform = _mapping(self.cluster.get("platform"))
        return [bare_metal.machine(entry, platform, talos) for entry in self.nodes]

    def names(self) -> dict[str, list[str]]:
        """Return where each host name in the file leads, the Image Factory's public name included."""
        vip = _mapping(self.cluster.get("network")).get("vip")
        front = self.load_balancers or ([str(vip)] if vip else self.control_planes)
        known = {_host(FACTORY): [FACTORY_ADDRESS], _host(self.factory): [FACTORY_ADDRESS]}
        known[_host(str(self.cluster.get("endpoint", "")))] = front
        for host in _hosts(self.cluster):
            known.setdefault(host, [NOWHERE_ADDRESS])
        return {host: where for host, where in known.items() if host and where and not _parse(host)}


def path_of(name: str, folder: Path) -> Path:
    """Return the path of ``Pulumi.<name>.yaml`` in ``folder``; raises StackError where there is none."""
    try:
        return stackfile.path_of(name, folder)
    except stackfile.NoStackError as error:
        raise StackError(str(error)) from error


def read(name: str, folder: Path) -> StackFile:
    """Read ``Pulumi.<name>.yaml`` in ``folder``; raises StackError where there is none or it is no stack file."""
    path = path_of(name, folder)
    try:
        return StackFile(name, path, _mapping(stackfile.read(name, folder).config.get("cluster")))
    except stackfile.StackFileError as error:
        raise StackError(str(error)) from error


def _hosts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _hosts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _hosts(item)
    elif isinstance(value, str) and re.match(r"https?://", value):
        yield _host(value)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        return None


def _address(entry: Mapping[str, Any]) -> IPv4Address | None:
    return _parse(str(entry.get("address", "")))


def _parse(text: str) -> IPv4Address | None:
    try:
        return IPv4Address(text)
    except AddressValueError:
        return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
