"""Checks of the documents about names, addresses, time and the firewall."""

from collections.abc import Callable

from machinery.checks.problems import Problems, Values, is_address, is_prefix, is_subnet_filter

_KUBESPAN_MINIMUM_MTU = 1280
_RESERVED_PRIORITIES = (0, 32500, 32766, 32767)


def hostname(values: Values, problems: Problems) -> None:
    """Check a HostnameConfig."""
    auto, name = values.get("auto"), values.get("hostname", "")
    # Some releases take `auto: off` without a host name for nothing at all.
    off_is_enough = problems.release >= (1, 13, 3) or (1, 12, 9) <= problems.release < (1, 13, 0)
    if not name and (auto is None or (auto == "off" and not off_is_enough)):
        problems.error("", "it needs auto or hostname", "auto")
    if auto not in (None, "off") and name:
        problems.error("auto", "and hostname exclude each other: set auto: off beside a hostname")
    if auto == "talos-addr":
        problems.error("auto", "must be off or stable")
    if name:
        if len(name) > 253:
            problems.error("hostname", f"has {len(name)} characters, more than 253")
        first = name.split(".")[0]
        if not 1 <= len(first) <= 63:
            problems.error("hostname", "must have 1 to 63 characters before the first dot", value=first)


def virtual_address(values: Values, problems: Problems) -> None:
    """Check a Layer2VIPConfig or the common part of an HCloudVIPConfig."""
    if not is_address(values.get("name", "")):
        problems.error("name", "must be the shared IP address")
    if not values.get("link"):
        problems.error("link", "is missing: say which interface")


def hcloud_address(values: Values, problems: Problems) -> None:
    """Check an HCloudVIPConfig."""
    virtual_address(values, problems)
    if not values.get("apiToken"):
        problems.error("apiToken", "is missing")


def static_host(values: Values, problems: Problems) -> None:
    """Check a StaticHostConfig."""
    if not is_address(values.get("name", "")):
        problems.error("name", "must be an IP address")
    if not values.get("hostnames"):
        problems.error("hostnames", "is empty")


def time_sync(values: Values, problems: Problems) -> None:
    """Check a TimeSyncConfig."""
    if values.get("bootTimeout", "").startswith("-"):
        problems.error("bootTimeout", "must not be negative")
    if "ntp" in values and "ptp" in values:
        problems.error("", "it has ntp and ptp: use one", "ptp")


def dhcp(values: Values, problems: Problems) -> None:
    """Check a DHCPv4Config or DHCPv6Config."""
    if not values.get("name"):
        problems.error("name", "is missing")
    with_duid = values.get("clientIdentifier") == "duid"
    if bool(values.get("duidRaw")) != with_duid:
        problems.error("", "duidRaw and clientIdentifier: duid belong together", "clientIdentifier")


def kubespan(values: Values, problems: Problems) -> None:
    """Check a KubeSpanConfig."""
    if values.get("mtu", _KUBESPAN_MINIMUM_MTU) < _KUBESPAN_MINIMUM_MTU:
        problems.error("mtu", f"must be at least {_KUBESPAN_MINIMUM_MTU}")
    for subnet in (values.get("filters") or {}).get("endpoints", ()):
        if not is_subnet_filter(subnet):
            problems.error("filters.endpoints:", "is no subnet", value=subnet)


def rule(values: Values, problems: Problems) -> None:
    """Check a NetworkRuleConfig; the first problem only, as Talos does."""
    ports = (values.get("portSelector") or {}).get("ports", [])
    if not values.get("name"):
        problems.error("name", "is missing")
    elif not ports:
        problems.error("portSelector.ports", "is empty")
    elif problem := _overlap(ports):
        problems.error("portSelector.ports:", problem)
    elif any(not entry.get("subnet") for entry in values.get("ingress", ())):
        problems.error("ingress:", "an entry has no subnet")


def _overlap(ports: list[int | str]) -> str:
    ranges = sorted(_range(port) for port in ports)
    for index, (low, high) in enumerate(ranges):
        if low > high:
            return f"{low}-{high} runs backwards"
        if index and low <= ranges[index - 1][1]:
            return f"{low}-{high} overlaps {ranges[index - 1][0]}-{ranges[index - 1][1]}"
    return ""


def _range(port: int | str) -> tuple[int, int]:
    low, _, high = str(port).partition("-")
    return int(low), int(high or low)


def blackhole(values: Values, problems: Problems) -> None:
    """Check a BlackholeRouteConfig."""
    if not is_prefix(values.get("name", "")):
        problems.error("name", "must be a subnet")


def routing_rule(values: Values, problems: Problems) -> None:
    """Check a RoutingRuleConfig."""
    name = values.get("name", "")
    if not (name.isdecimal() and int(name) < 2**32):
        problems.error("name", "must be the priority, a number")
    elif int(name) in _RESERVED_PRIORITIES:
        reserved = ", ".join(map(str, _RESERVED_PRIORITIES))
        problems.error("", f"the priority must be from 1 to 32765 and none of {reserved}", "name")
    if not values.get("table") and values.get("action", "unspec") in ("unspec", "unicast"):
        problems.error("", "it needs a table, or another action than unicast")
    if values.get("fwMask") and not values.get("fwMark"):
        problems.error("fwMask", "needs fwMark")


def tcp_probe(values: Values, problems: Problems) -> None:
    """Check a TCPProbeConfig."""
    for key in ("name", "endpoint"):
        if not values.get(key):
            problems.error(key, "is missing")
    for key in ("timeout", "interval"):
        if values.get(key, "").startswith("-"):
            problems.error(key, "must not be negative")
    if values.get("failureThreshold", 0) < 0:
        problems.error("failureThreshold", "must not be negative")


CHECKS: dict[str, Callable[[Values, Problems], None]] = {
    "HostnameConfig": hostname,
    "Layer2VIPConfig": virtual_address,
    "HCloudVIPConfig": hcloud_address,
    "StaticHostConfig": static_host,
    "TimeSyncConfig": time_sync,
    "DHCPv4Config": dhcp,
    "DHCPv6Config": dhcp,
    "KubeSpanConfig": kubespan,
    "NetworkRuleConfig": rule,
    "BlackholeRouteConfig": blackhole,
    "RoutingRuleConfig": routing_rule,
    "TCPProbeConfig": tcp_probe,
}
