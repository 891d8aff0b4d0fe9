"""Checks of the `machine` part of the v1alpha1 document, without its network."""

from math import isfinite
from typing import Any

from machinery.checks import names
from machinery.checks.findings import Findings, Values, get, is_subnet_filter
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


def check_machine(machine: Values, mode: str, release: Release, findings: Findings) -> None:
    """Check everything of the machine that does not need the cluster's part."""
    kind = machine_type(machine)
    if kind and machine.get("type", "") != kind:
        findings.warn("machine.type", f"should be {kind}", value=machine.get("type", ""))
    if not kind:
        findings.error("machine.type", "is not known", value=machine.get("type", ""))
    if mode == "metal":
        _check_install(machine.get("install"), release, findings)
    _check_ca(machine, kind, findings)
    _check_disks(machine, findings)
    _check_kubelet(machine.get("kubelet") or {}, findings)
    _check_encryption(machine, findings)
    _check_logging(machine, findings)
    _check_extensions(machine, findings)
    if not _is_json(machine.get("baseRuntimeSpecOverrides")):
        findings.error(
            "machine.baseRuntimeSpecOverrides",
            "holds what JSON cannot: a key that is no text, or a number that is none",
        )
    names.check_labels(machine.get("nodeLabels", {}), findings)
    names.check_annotations(machine.get("nodeAnnotations", {}), findings)
    names.check_taints(machine.get("nodeTaints", {}), findings)
    _check_features(machine.get("features") or {}, kind, release, findings)
    for section in ("config", "mirrors"):
        for host, value in (get(machine, "registries", section) or {}).items():
            if value is None:
                findings.error(
                    "", f"machine.registries.{section}.{host} is empty", "machine", "registries", section, host
                )


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return not isinstance(value, GeneralMap) and all(map(_is_json, value.values()))
    if isinstance(value, list):
        return all(map(_is_json, value))
    return not isinstance(value, float) or isfinite(value)


def _check_install(install: Values | None, release: Release, findings: Findings) -> None:
    if install is None:
        findings.error("machine.install", "is needed on metal")
        return
    selector = install.get("diskSelector")
    if selector is not None:
        if selector.get("name"):
            findings.error("machine.install.diskSelector.name", "is not supported")
        elif (disk_type := selector.get("type", "")) and disk_type not in _DISK_TYPES:
            findings.error("machine.install.diskSelector.type", f"is none of {', '.join(_DISK_TYPES)}", value=disk_type)
    elif not install.get("disk"):
        findings.error("machine.install", "needs disk or diskSelector")
    if release >= (1, 12, 0) and install.get("extraKernelArgs") and install.get("grubUseUKICmdline"):
        findings.error(
            "machine.install.extraKernelArgs", "does nothing while grubUseUKICmdline is true: set one of them"
        )


def _check_ca(machine: Values, kind: str, findings: Findings) -> None:
    ca, accepted = machine.get("ca"), machine.get("acceptedCAs", [])
    if ca is None and not accepted:
        findings.error("machine.ca", "or machine.acceptedCAs is needed")
    if kind in ("init", "controlplane"):
        if ca is None:
            findings.error("machine.ca", "is needed on a control plane")
        elif not ca.get("key"):
            findings.error("machine.ca.key", "is needed on a control plane")
    elif kind == "worker" and ca is not None:
        if ca.get("key"):
            findings.error("machine.ca.key", "must not be on a worker")
        if not ca.get("crt") and not accepted:
            findings.error("machine.ca.crt", "or machine.acceptedCAs is needed on a worker")


def _check_disks(machine: Values, findings: Findings) -> None:
    for index, disk in enumerate(machine.get("disks", ())):
        if disk is None:
            findings.error(f"machine.disks[{index}]", "is empty")
            continue
        partitions = disk.get("partitions", [])
        if any(not (partition or {}).get("size") for partition in partitions[:-1]):
            findings.error(f"machine.disks[{index}]:", "only the last partition may go without a size")


def _check_kubelet(kubelet: Values, findings: Findings) -> None:
    for subnet in get(kubelet, "nodeIP", "validSubnets") or ():
        if not is_subnet_filter(subnet):
            findings.error("machine.kubelet.nodeIP.validSubnets:", "is no subnet", value=subnet)
    for field in _KUBELET_OWN.split():
        if field in (kubelet.get("extraConfig") or {}):
            findings.error("machine.kubelet.extraConfig:", f"{field} is Talos's own")


def _check_encryption(machine: Values, findings: Findings) -> None:
    for partition in ("ephemeral", "state"):
        encryption = get(machine, "systemDiskEncryption", partition)
        if encryption is not None:
            check_keys(encryption.get("keys", []), findings.under(f"machine.systemDiskEncryption.{partition}"))


def check_keys(keys: list[Any], findings: Findings) -> None:
    """Check the keys of an encrypted partition."""
    if not keys:
        findings.error("", "it has no keys", "keys")
    slots = set()
    for index, key in enumerate(keys):
        slot = (key or {}).get("slot", 0)
        if slot in slots:
            findings.error("", f"slot {slot} is used twice", "keys", index)
        slots.add(slot)
        if not any(name in (key or {}) for name in ("static", "nodeID", "kms", "tpm")):
            findings.error("", f"the key in slot {slot} says neither static, nodeID, kms nor tpm", "keys", index)


def _check_logging(machine: Values, findings: Findings) -> None:
    for index, destination in enumerate(get(machine, "logging", "destinations") or ()):
        where = f"machine.logging.destinations[{index}]"
        if "endpoint" not in destination:
            findings.error(where, "has no endpoint")
        else:
            url = go_url(destination["endpoint"])
            if not url.host:
                findings.error(f"{where}.endpoint", "has no host")
            if url.scheme not in ("tcp", "udp"):
                findings.error(
                    f"{where}.endpoint", f"must be a tcp or udp URL, not {url.scheme or 'one without a scheme'}"
                )
        if destination.get("format") != "json_lines":
            findings.error(f"{where}.format", "must be json_lines", value=destination.get("format", ""))


def _check_extensions(machine: Values, findings: Findings) -> None:
    images = [extension.get("image", "") for extension in get(machine, "install", "extensions") or ()]
    for image in sorted({image for image in images if images.count(image) > 1}):
        findings.error("machine.install.extensions:", "stands twice", value=image)
    if images:
        findings.warn("machine.install.extensions", "is deprecated: build the extensions into the boot image")


def _check_features(features: Values, kind: str, release: Release, findings: Findings) -> None:
    dns = features.get("hostDNS") or {}
    if release >= (1, 13, 0) and dns.get("forwardKubeDNSToHost") and not dns.get("enabled"):
        findings.error("machine.features.hostDNS.forwardKubeDNSToHost", "needs hostDNS.enabled")
    access = features.get("kubernetesTalosAPIAccess") or {}
    if access.get("enabled"):
        if kind not in ("init", "controlplane"):
            findings.error("machine.features.kubernetesTalosAPIAccess", "is for control planes only")
        for role in access.get("allowedRoles", ()):
            if role not in _ROLES:
                findings.error("machine.features.kubernetesTalosAPIAccess.allowedRoles:", "is no role", value=role)
        if release < (1, 12, 0) and features.get("rbac") is False:
            findings.error("machine.features.kubernetesTalosAPIAccess", "needs rbac")
    if (algorithm := features.get("nodeAddressSortAlgorithm", "").lower()) not in ("", "v1", "v2"):
        findings.error("machine.features.nodeAddressSortAlgorithm", "is neither v1 nor v2", value=algorithm)
