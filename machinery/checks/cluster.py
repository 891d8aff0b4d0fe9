"""Checks of the `cluster` part of the v1alpha1 document."""

from machinery.checks.names import is_dns_name
from machinery.checks.problems import Problems, Values, get, is_subnet_filter
from machinery.generate import host_problem
from machinery.urls import go_url

_ETCD = ("cluster", "etcd")
_AUTHORIZERS = ("Node", "RBAC", "Webhook")


def check_cluster(cluster: Values | None, control_plane: bool, problems: Problems) -> None:
    """Check the cluster's part for a control plane or a worker."""
    if cluster is None:
        problems.error("cluster", "is missing")
        return
    endpoint = get(cluster, "controlPlane", "endpoint")
    if endpoint is None:
        problems.error("cluster.controlPlane.endpoint", "is missing")
        return
    if problem := host_problem(endpoint):
        problems.error("cluster.controlPlane.endpoint", f"is wrong: {problem}")
    domain = get(cluster, "network", "dnsDomain")
    if domain and not is_dns_name(domain):
        problems.error("cluster.network.dnsDomain", "is no DNS name", value=domain)
    _check_cloud_provider(cluster.get("externalCloudProvider"), problems)
    _check_etcd(cluster.get("etcd"), control_plane, problems)
    if not control_plane and get(cluster, "ca", "key"):
        problems.error("cluster.ca.key", "must not be on a worker")
    _check_manifests(cluster, problems)
    _check_discovery(cluster, problems)
    _check_components(cluster, problems)


def check_cni(cluster: Values, problems: Problems) -> None:
    """Check cluster.network.cni, which matters on control planes."""
    cni = get(cluster, "network", "cni")
    name = (cni or {}).get("name", "") if cni is not None else "flannel"
    urls = (cni or {}).get("urls", [])
    if name not in ("flannel", "custom", "none"):
        problems.error("cluster.network.cni.name", "is none of flannel, custom, none", value=name)
        return
    if name in ("flannel", "none") and urls:
        problems.error("cluster.network.cni.urls", f"must be empty for {name}")
    if name in ("none", "custom"):
        if get(cni, "flannel", "extraArgs"):
            problems.error("cluster.network.cni.flannel.extraArgs", f"must be empty for {name}")
        if get(cni, "flannel", "kubeNetworkPoliciesEnabled"):
            problems.error("cluster.network.cni.flannel.kubeNetworkPoliciesEnabled", f"must not be set for {name}")
    if name == "custom":
        if not urls:
            problems.warn("cluster.network.cni.urls", "should not be empty for custom")
        for url in urls:
            if problem := host_problem(url):
                problems.error("cluster.network.cni.urls:", problem)


def _check_cloud_provider(provider: Values | None, problems: Problems) -> None:
    if provider is None:
        return
    manifests = provider.get("manifests", [])
    if manifests and not provider.get("enabled"):
        problems.error("cluster.externalCloudProvider", "is off, but has manifests")
        return
    for url in manifests:
        if problem := host_problem(url):
            problems.error("cluster.externalCloudProvider.manifests:", problem)


def _check_etcd(etcd: Values | None, control_plane: bool, problems: Problems) -> None:
    if etcd is None:
        return
    if not control_plane:
        problems.error("cluster.etcd", "is for control planes only")
        return
    if etcd.get("ca") is None:
        problems.error("cluster.etcd.ca", "is missing")
    if etcd.get("subnet") and etcd.get("advertisedSubnets"):
        problems.error(
            "", "cluster.etcd has subnet and advertisedSubnets: use advertisedSubnets alone", *_ETCD, "subnet"
        )
    advertised = etcd.get("advertisedSubnets") or [*filter(None, [etcd.get("subnet")])]
    listen = etcd.get("listenSubnets") or advertised
    for key, subnets in (("advertisedSubnets", advertised), ("listenSubnets", listen)):
        for subnet in subnets:
            if not is_subnet_filter(subnet):
                problems.error(f"cluster.etcd.{key}:", "is no subnet", value=subnet)


def _check_manifests(cluster: Values, problems: Problems) -> None:
    seen = set()
    for manifest in cluster.get("inlineManifests", ()):
        name = manifest.get("name", "")
        if not name.strip():
            problems.error("cluster.inlineManifests:", "a manifest has no name")
        if name in seen:
            problems.error("cluster.inlineManifests: the name", "stands twice", value=name)
        seen.add(name)


def _check_discovery(cluster: Values, problems: Problems) -> None:
    discovery = cluster.get("discovery") or {}
    service = get(discovery, "registries", "service") or {}
    if not discovery.get("enabled") or service.get("disabled"):
        return
    endpoint = service.get("endpoint") or "https://discovery.talos.dev/"
    try:
        url = go_url(endpoint)
    except ValueError as error:
        problems.error("cluster.discovery.registries.service.endpoint", f"must be {error}")
    else:
        if not url.scheme and not endpoint.startswith("/"):
            problems.error("cluster.discovery.registries.service.endpoint", "must be a URL")
        elif url.path not in ("", "/"):
            problems.error("cluster.discovery.registries.service.endpoint", "must have no path")
    for key in ("id", "secret"):
        if not cluster.get(key):
            problems.error("cluster.discovery", f"needs cluster.{key}")


def _check_components(cluster: Values, problems: Problems) -> None:
    server = cluster.get("apiServer") or {}
    authorizers = server.get("authorizationConfig")
    if authorizers is not None:
        for argument in server.get("extraArgs", {}):
            if argument == "authorization-mode" or argument.startswith("authorization-webhook-"):
                problems.error("cluster.apiServer", f"has authorizationConfig and the argument {argument}: use one")
                break
    for authorizer in authorizers or ():
        kind = (authorizer or {}).get("type", "")
        if not kind or not (authorizer or {}).get("name"):
            problems.error("cluster.apiServer.authorizationConfig:", "an authorizer needs type and name")
        elif kind not in _AUTHORIZERS:
            known = ", ".join(_AUTHORIZERS)
            problems.error("cluster.apiServer.authorizationConfig: type", f"is none of {known}", value=kind)
    _check_resources(cluster, problems)


def _check_resources(cluster: Values, problems: Problems) -> None:
    for component in ("apiServer", "controllerManager", "scheduler"):
        for part in ("requests", "limits"):
            for key in get(cluster, component, "resources", part) or ():
                if key not in ("memory", "cpu"):
                    problems.error(f"cluster.{component}.resources.{part}:", "is neither memory nor cpu", value=key)
