"""What the stack file says is in the configuration as it says it: no patch has another word on it."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

from findings import Finding
from machineconfig.checks.configuration import Final
from machineconfig.context import NodeFacts
from machineconfig.paths import MAIN, Path, written
from machineconfig.redaction import looks_secret

_GENERATED_DISK = "/dev/sda"
"""What Talos generates for machine.install.disk; a diskSelector comes before it."""
_ZONE = "topology.kubernetes.io/zone"
_IMAGES = (
    ("machine", "kubelet", "image"),
    *(("cluster", part, "image") for part in ("apiServer", "controllerManager", "scheduler", "proxy")),
)


@dataclass(frozen=True)
class _Owned:
    """A place in the configuration, what the topology says of it, and where the stack file says that."""

    path: Path
    says: str
    key: str
    without: str = ""
    """What it means where there is no value."""
    shown: str = ""
    """How to say it, where it is not what is compared."""

    def differs(self, value: Any) -> bool:
        return _same(self.path, value, self.without) != _same(self.path, self.says, "")


def has_what_the_topology_says(final: Final) -> Iterator[Finding]:
    """A value that the stack file gives is in the configuration as given: name, endpoint, versions, subnets, disk."""
    for owned in (*_of_the_cluster(final), *_of_kubernetes(final), *_of_the_node(final)):
        value = final.find(*map(str, owned.path))
        if owned.differs(value):
            given = "another value" if looks_secret(owned.path, _text(value)) else _text(value)
            message = f"{written(MAIN, owned.path)} is {given or 'gone'}; the topology says {owned.shown or owned.says}"
            cure = f"leave it out of the patch, or set {owned.key} in the stack file"
            yield final.finding(message, cure, path=owned.path, value=given)


def _of_the_cluster(final: Final) -> Iterator[_Owned]:
    topology, network = final.topology, final.topology.network
    yield _Owned(("cluster", "clusterName"), topology.name, "name")
    yield _Owned(("cluster", "controlPlane", "endpoint"), topology.endpoint.url, "endpoint")
    yield _Owned(("cluster", "network", "dnsDomain"), network.dns_domain, "network.dnsDomain")
    for name, subnets in (("podSubnets", network.pod_subnets), ("serviceSubnets", network.service_subnets)):
        yield _Owned(("cluster", "network", name), ", ".join(map(str, subnets)), f"network.{name}")
    yield _Owned(("cluster", "discovery", "enabled"), _text(network.discovery), "network.discovery", "false")


def _of_kubernetes(final: Final) -> Iterator[_Owned]:
    """Of the components of Kubernetes, which a worker has none of but the kubelet."""
    topology, network = final.topology, final.topology.network
    for image in _IMAGES:
        if _tag(final.find(*image)):  # a digest alone says no version
            yield _Owned(image, str(topology.versions.kubernetes), "versions.kubernetes")
    if final.node.is_controlplane:
        yield _Owned(("cluster", "network", "cni", "name"), network.cni, "network.cni", "flannel")
        yield _Owned(("cluster", "proxy", "disabled"), _text(not network.kube_proxy), "network.kubeProxy", "false")
        scheduling = _text(topology.allow_scheduling_on_control_planes)
        path = ("cluster", "allowSchedulingOnControlPlanes")
        yield _Owned(path, scheduling, "allowSchedulingOnControlPlanes", "false")
        for flag, value in _facts(final).api_server_arguments.items():
            yield _Owned(("cluster", "apiServer", "extraArgs", flag), value, "apiServer.oidc")


def _of_the_node(final: Final) -> Iterator[_Owned]:
    topology, node = final.topology, final.node
    yield _Owned(("machine", "type"), node.machine_type, f"the role of {node.name}")
    if node.zone:
        yield _Owned(("machine", "nodeLabels", _ZONE), node.zone, f"the zone of {node.name}")
    yield from _of_its_site(final)
    if topology.kubelet.serving_certificates:
        path = ("machine", "kubelet", "extraArgs", "rotate-server-certificates")
        yield _Owned(path, "true", "kubelet.servingCertificates")
    if disk := node.selected_disk:
        key = f"installDisk of {node.name}"
        selector = "" if disk.path else _text(_facts(final).disk_selector(disk))
        shown = disk.path or selector
        yield _Owned(("machine", "install", "disk"), disk.path or _GENERATED_DISK, key, _GENERATED_DISK, shown)
        yield _Owned(("machine", "install", "diskSelector"), selector, key, shown=shown)


def _of_its_site(final: Final) -> Iterator[_Owned]:
    site, zone = final.topology.site_of(final.node), final.node.zone
    where = f"zones.{zone}" if zone else "network"
    for name, url in (("http_proxy", site.proxy.http), ("https_proxy", site.proxy.https)) if site.proxy else ():
        if url:
            yield _Owned(("machine", "env", name), url, f"the proxy of {where}")
    for registry in sorted(site.registries_with_paths):
        path = ("machine", "registries", "mirrors", registry)
        if final.find(*path):
            yield _Owned((*path, "overridePath"), "true", f"the registryMirrors of {where}")


def _facts(final: Final) -> NodeFacts:
    return NodeFacts(final.topology, final.node)


def _same(path: Path, value: Any, without: str) -> str:
    """A value as it is compared: spellings of one thing are one."""
    text = _text(value) or without
    if path in _IMAGES:
        return _tag(text) or text
    if path[-1] == "endpoint":
        return text.rstrip("/")
    if path[-1] in ("podSubnets", "serviceSubnets"):
        return ", ".join(map(_network, text.split(", ")))
    # A CNI of one's own is none of Talos's: the stack file cannot say more of it.
    return "none" if path[-2:] == ("cni", "name") and text == "custom" else text


def _tag(image: object) -> str:
    """The tag of an image reference; empty where it has none."""
    return str(image or "").partition("@")[0].rpartition("/")[2].partition(":")[2]


def _network(text: str) -> str:
    try:
        return str(ip_network(text, strict=False))
    except ValueError:  # the validation says it
        return text


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {item}" for key, item in sorted(value.items()) if item not in ("", None))
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
