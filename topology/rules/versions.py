"""Versions that go together."""

from collections.abc import Iterator

from findings import Finding
from topology.compatibility import NEWEST_CONTRACT, NEWEST_TALOS, OLDEST_CONTRACT, OLDEST_TALOS, SUPPORT
from topology.topology import Topology


def talos_is_supported(topology: Topology) -> Iterator[Finding]:
    """The Talos version is one whose limits are known here."""
    talos = topology.versions.talos
    if talos.contract not in SUPPORT:
        message = f"is not a Talos version this program knows ({OLDEST_TALOS} to {NEWEST_TALOS})"
        yield Finding.at(
            ("versions", "talos"), talos, message, "choose one of those, or extend topology/compatibility.py"
        )


def kubernetes_is_supported(topology: Topology) -> Iterator[Finding]:
    """The Kubernetes version is one that the Talos version supports."""
    talos, kubernetes = topology.versions.talos, topology.versions.kubernetes
    support = SUPPORT.get(talos.contract)
    if support and not support.kubernetes_from <= kubernetes.contract <= support.kubernetes_to:
        allowed = f"{support.kubernetes_from} to {support.kubernetes_to}"
        message = f"does not run on Talos {talos}, which supports Kubernetes {allowed}"
        yield Finding.at(("versions", "kubernetes"), kubernetes, message, f"choose a version from {allowed}")


def contract_is_not_ahead(topology: Topology) -> Iterator[Finding]:
    """The configuration is not written for a newer Talos than the one that reads it."""
    talos, contract = topology.versions.talos, topology.versions.contract
    if contract > talos.contract:
        message = f"is ahead of Talos {talos}, which takes contracts {OLDEST_CONTRACT} to {talos.contract}"
        cure = f"write {talos.contract} or, in a cluster that was created with an older one, that"
        yield Finding.at(("versions", "contract"), contract, message, cure)
    if contract < OLDEST_CONTRACT:
        cure = "write the Talos minor version the cluster was created with"
        yield Finding.at(("versions", "contract"), contract, f"is older than {OLDEST_CONTRACT}", cure)


def provider_knows_contract(topology: Topology) -> Iterator[Finding]:
    """The Talos provider can write a configuration for the contract."""
    contract = topology.versions.contract
    if contract > NEWEST_CONTRACT:
        message = f"is newer than {NEWEST_CONTRACT}, the newest the Talos provider can write a configuration for"
        yield Finding.at(("versions", "contract"), contract, message, f"write {NEWEST_CONTRACT}")


def talos_is_not_newer_than_the_provider(topology: Topology) -> Iterator[Finding]:
    """A Talos newer than the provider runs with a configuration that knows nothing of what is new in it."""
    talos = topology.versions.talos
    if talos.contract > NEWEST_CONTRACT:
        message = f"is newer than {NEWEST_CONTRACT}, the newest the Talos provider knows"
        cure = f"stay with {NEWEST_CONTRACT} unless you need it, and read Talos's notes on what has changed"
        yield Finding.at(("versions", "talos"), talos, message, cure)
