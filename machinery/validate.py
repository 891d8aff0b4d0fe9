"""Validating a configuration as a machine does before it takes it, with every problem found at once."""

import re

from machinery.checks import links, network, system, volumes
from machinery.checks.cluster import check_cluster, check_cni
from machinery.checks.conflicts import CONFLICTS
from machinery.checks.devices import check_kubespan, check_network
from machinery.checks.machine import check_machine, machine_type
from machinery.checks.problems import Problems, get
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
    problems = Problems(configuration.release)
    if configuration.complete:
        _check_v1alpha1(configuration, mode, problems)
    for document in configuration.documents:
        if check := _CHECKS.get(document.kind):
            check(document.values, problems.of(document.title))
    if configuration.complete:
        for document in configuration.documents:
            if conflict := CONFLICTS.get(document.kind):
                conflict(document.values, configuration.v1alpha1, problems.under(document.title, ()))
    if at_runtime and configuration.complete and configuration.release >= (1, 12, 0):
        _check_images(configuration, problems)
    if problems.errors:
        raise ConfigError(*problems.errors)
    return tuple(problems.warnings)


def _check_v1alpha1(configuration: Configuration, mode: str, problems: Problems) -> None:
    machine, cluster = configuration.find("machine"), configuration.find("cluster")
    if machine is None:
        problems.error("machine", "is missing")
        return
    kind = machine_type(machine)
    control_plane = kind in ("init", "controlplane")
    check_cluster(cluster, control_plane, problems)
    check_machine(machine, mode, configuration.release, problems)
    dns = get(machine, "features", "hostDNS") or {}
    if mode == "container" and not (dns.get("enabled") and dns.get("forwardKubeDNSToHost")):
        problems.error("machine.features.hostDNS.enabled", "and forwardKubeDNSToHost are needed in a container")
    if control_plane:
        check_cni(cluster or {}, problems)
    check_network(machine.get("network") or {}, kind == "worker", problems)
    check_kubespan(machine, cluster or {}, problems)
    if configuration.find("persist") is False:
        problems.error("persist", "must be true")


def _check_images(configuration: Configuration, problems: Problems) -> None:
    images = {"machine.kubelet": configuration.find("machine", "kubelet", "image")}
    if configuration.machine_type == "controlplane":
        components = ("apiServer", "controllerManager", "scheduler")
        images |= {f"cluster.{name}": configuration.find("cluster", name, "image") for name in components}
    for where, image in images.items():
        if not image:
            continue
        match = re.search(r":v([0-9]+)\.([0-9]+)(?:\.[0-9]+)?[^:]*$", image.partition("@")[0])
        if match is None:
            problems.error(f"{where}.image:", f"no Kubernetes version can be read from {image}")
            continue
        low, high = KUBERNETES.get(configuration.release[1], (0, 999))
        if not (match[1] == "1" and low <= int(match[2]) <= high):
            talos = f"{configuration.release[0]}.{configuration.release[1]}"
            problems.error(
                f"{where}.image:", f"Talos {talos} runs Kubernetes 1.{low} to 1.{high}, not {match[1]}.{match[2]}"
            )
