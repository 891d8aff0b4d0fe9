"""Checks of the `machine` part of the v1alpha1 document, without its network."""

from math import isfinite
from typing import Any

from machinery.checks import names
from machinery.checks.problems import Problems, Values, get, is_subnet_filter
from machinery.structure import Release
from machinery.urls import go_url
from machinery.values import GeneralMap

_TYPES = {"init": "init", "controlplane": "controlplane", "worker": "worker", "join": "worker", "": "worker"}
_KUBELET_OWN = (
    "apiVersion authentication authorization cgroupRoot kind kubeletCgroups port protectKernelDefaults resolvConf "
    "rotateCertificates systemCgroups staticPodPath seccompDefault"
)
_ROLES = ("os:admin", "os:reader", "os:operator", "os:etcd:backup", "os:impersonator")
_DISK_TYPES = ("nvme", "sd", "hdd", "ssd")


def machine_type(machine: Values) -> str:
    """Return `init`, `controlplane` or `worker`, or nothing for a type that Talos does not know."""
    return _TYPES.get(machine.get("type", ""), "")


def check_machine(machine: Values, mode: str, release: Release, problems: Problems) -> None:
    """Check everything of the machine that does not need the cluster's part."""
    kind = machine_type(machine)
    if kind and machine.get("type", "") != kind:
        problems.warn("machine.type", f"should be {kind}", value=machine.get("type", ""))
    if not kind:
        problems.error("machine.type", "is not known", value=machine.get("type", ""))
    if mode == "metal":
        _check_install(machine.get("install"), release, problems)
    _check_ca(machine, kind, problems)
    _check_disks(machine, problems)
    _check_kubelet(machine.get("kubelet") or {}, problems)
    _check_encryption(machine, problems)
    _check_logging(machine, problems)
    _check_extensions(machine, problems)
    if not _is_json(machine.get("baseRuntimeSpecOverrides")):
        problems.error(
            "machine.baseRuntimeSpecOverrides",
            "holds what JSON cannot: a key that is no text, or a number that is none",
        )
    names.check_labels(machine.get("nodeLabels", {}), problems)
    names.check_annotations(machine.get("nodeAnnotations", {}), problems)
    names.check_taints(machine.get("nodeTaints", {}), problems)
    _check_features(machine.get("features") or {}, kind, release, problems)
    for section in ("config", "mirrors"):
        for host, value in (get(machine, "registries", section) or {}).items():
            if value is None:
                problems.error(
                    "", f"machine.registries.{section}.{host} is empty", "machine", "registries", section, host
                )


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return not isinstance(value, GeneralMap) and all(map(_is_json, value.values()))
    if isinstance(value, list):
        return all(map(_is_json, value))
    return not isinstance(value, float) or isfinite(value)


def _check_install(install: Values | None, release: Release, problems: Problems) -> None:
    if install is None:
        problems.error("machine.install", "is needed on metal")
        return
    selector = install.get("diskSelector")
    if selector is not None:
        if selector.get("name"):
            problems.error("machine.install.diskSelector.name", "is not supported")
        elif (disk_type := selector.get("type", "")) and disk_type not in _DISK_TYPES:
            problems.error("machine.install.diskSelector.type", f"is none of {', '.join(_DISK_TYPES)}", value=disk_type)
    elif not install.get("disk"):
        problems.error("machine.install", "needs disk or diskSelector")
    if release >= (1, 12, 0) and install.get("extraKernelArgs") and install.get("grubUseUKICmdline"):
        problems.error(
            "machine.install.extraKernelArgs", "does nothing while grubUseUKICmdline is true: set one of them"
        )


def _check_ca(machine: Values, kind: str, problems: Problems) -> None:
    ca, accepted = machine.get("ca"), machine.get("acceptedCAs", [])
    if ca is None and not accepted:
        problems.error("machine.ca", "or machine.acceptedCAs is needed")
    if kind in ("init", "controlplane"):
        if ca is None:
            problems.error("machine.ca", "is needed on a control plane")
        elif not ca.get("key"):
            problems.error("machine.ca.key", "is needed on a control plane")
    elif kind == "worker" and ca is not None:
        if ca.get("key"):
            problems.error("machine.ca.key", "must not be on a worker")
        if not ca.get("crt") and not accepted:
            problems.error("machine.ca.crt", "or machine.acceptedCAs is needed on a worker")


def _check_disks(machine: Values, problems: Problems) -> None:
    for index, disk in enumerate(machine.get("disks", ())):
        if disk is None:
            problems.error(f"machine.disks[{index}]", "is empty")
            continue
        partitions = disk.get("partitions", [])
        if any(not (partition or {}).get("size") for partition in partitions[:-1]):
            problems.error(f"machine.disks[{index}]:", "only the last partition may go without a size")


def _check_kubelet(kubelet: Values, problems: Problems) -> None:
    for subnet in get(kubelet, "nodeIP", "validSubnets") or ():
        if not is_subnet_filter(subnet):
            problems.error("machine.kubelet.nodeIP.validSubnets:", "is no subnet", value=subnet)
    for field in _KUBELET_OWN.split():
        if field in (kubelet.get("extraConfig") or {}):
            problems.error("machine.kubelet.extraConfig:", f"{field} is Talos's own")


def _check_encryption(machine: Values, problems: Problems) -> None:
    for partition in ("ephemeral", "state"):
        encryption = get(machine, "systemDiskEncryption", partition)
        if encryption is not None:
            check_keys(encryption.get("keys", []), problems.under(f"machine.systemDiskEncryption.{partition}"))


def check_keys(keys: list[Any], problems: Problems) -> None:
    """Check the keys of an encrypted partition."""
    if not keys:
        problems.error("", "it has no keys", "keys")
    slots = set()
    for index, key in enumerate(keys):
        slot = (key or {}).get("slot", 0)
        if slot in slots:
            problems.error("", f"slot {slot} is used twice", "keys", index)
        slots.add(slot)
        if not any(name in (key or {}) for name in ("static", "nodeID", "kms", "tpm")):
            problems.error("", f"the key in slot {slot} says neither static, nodeID, kms nor tpm", "keys", index)


def _check_logging(machine: Values, problems: Problems) -> None:
    for index, destination in enumerate(get(machine, "logging", "destinations") or ()):
        where = f"machine.logging.destinations[{index}]"
        if "endpoint" not in destination:
            problems.error(where, "has no endpoint")
        else:
            url = go_url(destination["endpoint"])
            if not url.host:
                problems.error(f"{where}.endpoint", "has no host")
            if url.scheme not in ("tcp", "udp"):
                problems.error(
                    f"{where}.endpoint", f"must be a tcp or udp URL, not {url.scheme or 'one without a scheme'}"
                )
        if destination.get("format") != "json_lines":
            problems.error(f"{where}.format", "must be json_lines", value=destination.get("format", ""))


def _check_extensions(machine: Values, problems: Problems) -> None:
    images = [extension.get("image", "") for extension in get(machine, "install", "extensions") or ()]
    for image in sorted({image for image in images if images.count(image) > 1}):
        problems.error("machine.install.extensions:", "stands twice", value=image)
    if images:
        problems.warn("machine.install.extensions", "is deprecated: build the extensions into the boot image")


def _check_features(features: Values, kind: str, release: Release, problems: Problems) -> None:
    dns = features.get("hostDNS") or {}
    if release >= (1, 13, 0) and dns.get("forwardKubeDNSToHost") and not dns.get("enabled"):
        problems.error("machine.features.hostDNS.forwardKubeDNSToHost", "needs hostDNS.enabled")
    access = features.get("kubernetesTalosAPIAccess") or {}
    if access.get("enabled"):
        if kind not in ("init", "controlplane"):
            problems.error("machine.features.kubernetesTalosAPIAccess", "is for control planes only")
        for role in access.get("allowedRoles", ()):
            if role not in _ROLES:
                problems.error("machine.features.kubernetesTalosAPIAccess.allowedRoles:", "is no role", value=role)
        if release < (1, 12, 0) and features.get("rbac") is False:
            problems.error("machine.features.kubernetesTalosAPIAccess", "needs rbac")
    if (algorithm := features.get("nodeAddressSortAlgorithm", "").lower()) not in ("", "v1", "v2"):
        problems.error("machine.features.nodeAddressSortAlgorithm", "is neither v1 nor v2", value=algorithm)
