"""Validating a configuration as a machine does before it takes it, with every problem found at once."""

import re

from machinery.checks import links, network, system, volumes
from machinery.checks.cluster import check_cluster, check_cni
from machinery.checks.conflicts import CONFLICTS
from machinery.checks.devices import check_kubespan, check_network
from machinery.checks.findings import Findings, get
from machinery.checks.machine import check_machine, machine_type
from machinery.configuration import Configuration
from machinery.errors import ConfigError
from machinery.problems import Problem

_CHECKS = {**volumes.CHECKS, **network.CHECKS, **links.CHECKS, **system.CHECKS}
# The Kubernetes minor releases that a Talos minor release runs.
KUBERNETES = {10: (28, 33), 11: (29, 34), 12: (30, 35), 13: (31, 36)}


def validate(configuration: Configuration, mode: str = "metal", *, at_runtime: bool = False) -> tuple[Problem, ...]:
    """Return the warnings of a configuration; raise ConfigError with everything that the machine refuses.

    `mode` is `metal` (something is installed), `cloud` or `container`. `at_runtime` adds what only a running machine
    can tell, from Talos 1.12 on: whether its release runs the Kubernetes release of the images.
    """
    findings = Findings(configuration.release)
    if configuration.complete:
        _check_v1alpha1(configuration, mode, findings)
    for document in configuration.documents:
        if check := _CHECKS.get(document.kind):
            check(document.values, findings.of(document.title))
    if configuration.complete:
        for document in configuration.documents:
            if conflict := CONFLICTS.get(document.kind):
                conflict(document.values, configuration.v1alpha1, findings.under(document.title, ()))
    if at_runtime and configuration.complete and configuration.release >= (1, 12, 0):
        _check_images(configuration, findings)
    if findings.errors:
        raise ConfigError(findings.errors)
    return tuple(findings.warnings)


def _check_v1alpha1(configuration: Configuration, mode: str, findings: Findings) -> None:
    machine, cluster = configuration.find("machine"), configuration.find("cluster")
    if machine is None:
        findings.error("machine", "is missing")
        return
    kind = machine_type(machine)
    control_plane = kind in ("init", "controlplane")
    check_cluster(cluster, control_plane, findings)
    check_machine(machine, mode, configuration.release, findings)
    dns = get(machine, "features", "hostDNS") or {}
    if mode == "container" and not (dns.get("enabled") and dns.get("forwardKubeDNSToHost")):
        findings.error("machine.features.hostDNS.enabled", "and forwardKubeDNSToHost are needed in a container")
    if control_plane:
        check_cni(cluster or {}, findings)
    check_network(machine.get("network") or {}, kind == "worker", findings)
    check_kubespan(machine, cluster or {}, findings)
    if configuration.find("persist") is False:
        findings.error("persist", "must be true")


def _check_images(configuration: Configuration, findings: Findings) -> None:
    images = {"machine.kubelet": configuration.find("machine", "kubelet", "image")}
    if configuration.machine_type == "controlplane":
        components = ("apiServer", "controllerManager", "scheduler")
        images |= {f"cluster.{name}": configuration.find("cluster", name, "image") for name in components}
    for where, image in images.items():
        if not image:
            continue
        match = re.search(r":v([0-9]+)\.([0-9]+)(?:\.[0-9]+)?[^:]*$", image.partition("@")[0])
        if match is None:
            findings.error(f"{where}.image:", f"no Kubernetes version can be read from {image}")
            continue
        low, high = KUBERNETES.get(configuration.release[1], (0, 999))
        if not (match[1] == "1" and low <= int(match[2]) <= high):
            talos = f"{configuration.release[0]}.{configuration.release[1]}"
            findings.error(
                f"{where}.image:", f"Talos {talos} runs Kubernetes 1.{low} to 1.{high}, not {match[1]}.{match[2]}"
            )
