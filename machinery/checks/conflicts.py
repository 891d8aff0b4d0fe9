"""Checks of what a typed document and the v1alpha1 document say about the same thing."""

from collections.abc import Callable

from machinery.checks.problems import Problems, Values, get, is_address


def _hostname(_: Values, legacy: Values, problems: Problems) -> None:
    if get(legacy, "machine", "network", "hostname"):
        problems.error("machine.network.hostname", "sets a host name too: keep the HostnameConfig document")
    elif get(legacy, "machine", "features", "stableHostname"):
        problems.error("machine.features.stableHostname", "sets a host name too: keep one")


def _kubespan(_: Values, legacy: Values, problems: Problems) -> None:
    if get(legacy, "machine", "network", "kubespan") is not None:
        problems.error("machine.network.kubespan", "is set too: keep one")


def _resolver(_: Values, legacy: Values, problems: Problems) -> None:
    network = get(legacy, "machine", "network") or {}
    if "searchDomains" in network:
        problems.error("machine.network.searchDomains", "is set too: keep one")
    elif any(is_address(server) for server in network.get("nameservers", ())):
        problems.error("machine.network.nameservers", "is set too: keep one")
    elif network.get("disableSearchDomain"):
        problems.error("machine.network.disableSearchDomain", "is set too: keep one")


def _time_sync(_: Values, legacy: Values, problems: Problems) -> None:
    time = get(legacy, "machine", "time") or {}
    for key in ("disabled", "servers", "bootTimeout"):
        if time.get(key):
            problems.error(f"machine.time.{key}", "is set too: keep one")
            return


def _volume(values: Values, legacy: Values, problems: Problems) -> None:
    partition = values.get("name", "").lower()
    if partition not in ("state", "ephemeral") or get(values, "encryption", "provider") in (None, "none"):
        return
    if get(legacy, "machine", "systemDiskEncryption", partition) is not None:
        problems.error(f"machine.systemDiskEncryption.{partition}", "is set too: keep one")


CONFLICTS: dict[str, Callable[[Values, Values, Problems], None]] = {
    "HostnameConfig": _hostname,
    "KubeSpanConfig": _kubespan,
    "ResolverConfig": _resolver,
    "TimeSyncConfig": _time_sync,
    "VolumeConfig": _volume,
}
