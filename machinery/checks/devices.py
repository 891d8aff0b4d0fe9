"""Checks of `machine.network`: interfaces, bonds, bridges, VLANs, WireGuard, KubeSpan."""

import base64
import binascii
from collections.abc import Iterator, Mapping

from findings import Path
from machinery.checks.problems import Problems, Values, get, has_port, is_address, is_prefix, is_subnet_filter

_INTERFACES = ("machine", "network", "interfaces")
_LOAD_BALANCING = ("balance-alb", "balance-tlb")
_WORDS = {
    "mode": "balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb balance-alb",
    "xmitHashPolicy": "layer2 layer3+4 layer2+3 encap2+3 encap3+4",
    "lacpRate": "slow fast",
    "arpValidate": "none active backup all filter filter-active filter-backup",
    "arpAllTargets": "any all",
    "primaryReselect": "always better failure",
    "failOverMac": "none active follow",
    "adSelect": "stable bandwidth count",
}
_KUBESPAN_MINIMUM_MTU = 1280


def check_network(network: Values, worker: bool, problems: Problems) -> None:
    """Check the interfaces of a machine, each by itself and all together."""
    devices = {at: device for at, device in enumerate(network.get("interfaces", ())) if device is not None}
    if len(devices) < len(network.get("interfaces", ())):
        problems.error("machine.network.interfaces", "has an empty entry")
    members = _members(devices, problems)
    for index, device in devices.items():
        title = device.get("interface") or f"interfaces[{index}]"
        mine = problems.under(f"machine.network {title}", (*_INTERFACES, index))
        vips = [place for place, part in _parts(device) if "vip" in part]
        if worker and vips:
            mine.error("", "a shared address (vip) is for control planes only", *vips[0], "vip", "ip")
        if not device.get("ignore"):
            _check_device(device, members, mine)
    kubespan = network.get("kubespan") or {}
    if kubespan.get("enabled") and 0 < kubespan.get("mtu", 0) < _KUBESPAN_MINIMUM_MTU:
        problems.error("machine.network.kubespan.mtu", f"must be at least {_KUBESPAN_MINIMUM_MTU}")


def _parts(device: Values) -> Iterator[tuple[Path, Values]]:
    """An interface and its VLANs, each with the way to it."""
    yield (), device
    for index, vlan in enumerate(device.get("vlans", ())):
        yield ("vlans", index), vlan or {}


def _members(devices: Mapping[int, Values], problems: Problems) -> dict[str, str]:
    members: dict[str, str] = {}
    for index, device in devices.items():
        at = (*_INTERFACES, index)
        name, bond, bridge = device.get("interface", ""), device.get("bond"), device.get("bridge")
        if bond is not None and bridge is not None:
            problems.error("", f"machine.network {name}: an interface is a bond or a bridge, not both", *at, "bridge")
        if bond is not None and bond.get("interfaces") and bond.get("deviceSelectors"):
            message = f"machine.network {name}: a bond has interfaces or deviceSelectors, not both"
            problems.error("", message, *at, "bond", "deviceSelectors")
        for member in (bridge if bridge is not None else bond or {}).get("interfaces", ()):
            if members.get(member, name) != name:
                message = f"machine.network {member} is part of {members[member]} and of {name}"
                problems.error("", message, *at, "bond" if bridge is None else "bridge", "interfaces")
            members[member] = name
    return members


def _check_device(device: Values, members: dict[str, str], problems: Problems) -> None:
    if bool(device.get("interface")) == ("deviceSelector" in device):
        problems.error("", "an interface needs either interface or deviceSelector", "interface")
    if device.get("deviceSelector") == {}:
        problems.error("deviceSelector", "is empty")
    if device.get("bond") is not None:
        check_bond(device["bond"], problems.under("bond"))
    if device.get("wireguard") is not None:
        _check_wireguard(device["wireguard"], problems.under("wireguard"))
    for index, vlan in enumerate(device.get("vlans", ())):
        number = (vlan or {}).get("vlanId", 0)
        _check_addresses(vlan or {}, problems.under(f"vlan {number}", ("vlans", index)))
    if device.get("interface", "") in members and any(device.get(key) for key in ("dhcp", "cidr", "addresses", "vip")):
        problems.error("", "a member of a bond or bridge must not have addresses of its own", "addresses")
    _check_addresses(device, problems)
    if "cidr" in device:
        problems.warn("cidr", "is deprecated: use addresses")
    if device.get("vip") is not None and not is_address(device["vip"].get("ip", "")):
        problems.error("vip.ip", "is no IP address", value=device["vip"].get("ip", ""))
    for index, route in enumerate(device.get("routes", ())):
        _check_route(route or {}, problems.under(f"routes[{index}]"))


def _check_addresses(part: Values, problems: Problems) -> None:
    if part.get("addresses") and part.get("cidr"):
        problems.error("", "it has cidr and addresses: use addresses alone", "cidr")
    for address in (*filter(None, [part.get("cidr")]), *part.get("addresses", ())):
        if not (is_prefix(address) if "/" in address else is_address(address)):
            problems.error("", "is no IP address", value=address)


def _check_route(route: Values, problems: Problems) -> None:
    network, gateway = route.get("network", ""), route.get("gateway", "")
    if network and not is_prefix(network):
        problems.error("network", "is no subnet", value=network)
    if gateway and not is_address(gateway):
        problems.error("gateway", "is no IP address", value=gateway)
    if not network and not gateway:
        problems.error("", "it has neither network nor gateway")
    if (source := route.get("source", "")) and not is_address(source):
        problems.error("source", "is no IP address", value=source)


def check_bond(bond: Values, problems: Problems) -> None:
    """Check the options of a bond against its mode."""
    for key, words in _WORDS.items():
        if bond.get(key, "") not in ("", *words.split()):
            problems.error(key, f"is none of {', '.join(words.split())}", value=bond[key])
    mode = bond.get("mode") or "balance-rr"
    interval = bond.get("miimon", 0)
    for key in ("updelay", "downdelay"):
        if bond.get(key, 0) and (not interval or bond[key] % interval):
            problems.error(key, "must be a multiple of miimon")
    refused = {
        "arpIPTarget": True,
        "adActorSystem": True,
        "lacpRate": mode != "802.3ad",
        "adActorSysPrio": mode != "802.3ad",
        "adUserPortKey": mode != "802.3ad",
        "arpValidate": mode in ("802.3ad", *_LOAD_BALANCING),
        "arpInterval": mode in ("802.3ad", *_LOAD_BALANCING),
        "primary": mode not in ("active-backup", *_LOAD_BALANCING),
        "tlbDynamicLb": mode not in _LOAD_BALANCING,
        "packetsPerSlave": mode != "balance-rr" and bond.get("packetsPerSlave", 0) > 1,
    }
    for key, is_refused in refused.items():
        if is_refused and bond.get(key):
            problems.error(key, f"cannot be set in mode {mode}")


def is_wireguard_key(text: str) -> bool:
    """Tell whether a text is base64 of 32 bytes."""
    try:
        return len(base64.b64decode(text, validate=True)) == 32
    except (binascii.Error, ValueError):
        return False


def _check_wireguard(wireguard: Values, problems: Problems) -> None:
    if not is_wireguard_key(wireguard.get("privateKey", "")):
        problems.error("privateKey", "is not base64 of 32 bytes")
    for index, peer in enumerate(wireguard.get("peers", ())):
        where = f"peers[{index}]"
        if not is_wireguard_key((peer or {}).get("publicKey", "")):
            problems.error(f"{where}.publicKey", "is not base64 of 32 bytes")
        if (endpoint := (peer or {}).get("endpoint", "")) and not has_port(endpoint):
            problems.error(f"{where}.endpoint", "is no host with a port", value=endpoint)
        for prefix in (peer or {}).get("allowedIPs", ()):
            if not is_prefix(prefix):
                problems.error(f"{where}.allowedIPs:", "is no subnet", value=prefix)


def check_kubespan(machine: Values, cluster: Values, problems: Problems) -> None:
    """Check that what KubeSpan needs of the cluster is there."""
    kubespan = get(machine, "network", "kubespan") or {}
    if not kubespan.get("enabled"):
        return
    if not get(cluster, "discovery", "enabled"):
        problems.error("machine.network.kubespan", "needs cluster.discovery.enabled")
    for key in ("id", "secret"):
        if not cluster.get(key):
            problems.error("machine.network.kubespan", f"needs cluster.{key}")
    for key, good in (("endpoints", is_subnet_filter), ("excludeAdvertisedNetworks", is_prefix)):
        for subnet in get(kubespan, "filters", key) or ():
            if not good(subnet):
                problems.error(f"machine.network.kubespan.filters.{key}:", "is no subnet", value=subnet)
