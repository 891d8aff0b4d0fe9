"""The options of every resource of the stacks of this repository, as the engine is asked for them."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.components.mocked import Request, requests
from topology import Topology, load

ROOT = Path(__file__).parents[2]
STACKS = ("lab", "homelab", "prod")
Found = Mapping[tuple[str, str], Request]


def cluster(stack: str) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text())["config"][
        "talos-stacks:cluster"
    ]
    return found


@cache
def assembled(stack: str) -> Found:
    return requests(cluster(stack), secrets={"proxmoxApiToken": "root@pam!talos=none"} if stack == "homelab" else None)


@pytest.fixture(params=STACKS)
def stack(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def found(stack: str) -> Found:
    return assembled(stack)


@pytest.fixture
def topology(stack: str) -> Topology:
    return load(cluster(stack))


def of(found: Found, kind: str) -> dict[str, Request]:
    return {name: request for (each, name), request in found.items() if each == kind}


def owner(request: Request) -> str:
    """``Kind name`` of the parent."""
    kind, name = request.parent.split("::")[2:]
    return f"{kind.rpartition(':')[2]} {name}"


def urns(found: Found, kind: str) -> set[str]:
    """The URNs of a kind, which end like this."""
    return {f"{request.type}::{name}" for name, request in of(found, kind).items()}


def ends(dependencies: Iterable[str]) -> set[str]:
    return {urn.rpartition("$")[2] for urn in dependencies}


@pytest.mark.parametrize(
    ("kind", "parent"),
    [
        ("BringUp", "Cluster {cluster}"),
        ("MachineSecrets", "Cluster {cluster}"),
        ("BootImages", "Cluster {cluster}"),
        ("Platform", "Cluster {cluster}"),
        ("MachineConfig", "Cluster {cluster}"),
        ("Secrets", "MachineSecrets machine-secrets"),
        ("Schematic", "BootImages boot-images"),
        ("Node", "Platform {platform}"),
        ("ConfigurationApply", "BringUp bring-up"),
        ("Bootstrap", "BringUp bring-up"),
        ("Kubeconfig", "BringUp bring-up"),
        ("File", "Platform proxmox"),
        ("PoolLegacy", "Platform proxmox"),
        ("VmLegacy", "Node {name}"),
    ],
)
def test_a_resource_belongs_to_the_component_that_owns_it(
    kind: str, parent: str, found: Found, topology: Topology
) -> None:
    for name, request in of(found, kind).items():
        assert owner(request) == parent.format(cluster=topology.name, platform=topology.platform.kind, name=name)


def test_every_resource_has_the_provider_of_its_stack(found: Found) -> None:
    custom = [
        request
        for (kind, _), request in found.items()
        if request.custom and kind not in ("talos", "proxmoxve", "talos-lifecycle")
    ]
    assert custom
    for request in custom:
        package = request.type.partition(":")[0]
        assert f"pulumi:providers:{package}::" in request.provider, request.name


def test_each_component_is_there_once_a_node_or_once(found: Found, topology: Topology) -> None:
    names = {node.name for node in topology.nodes}
    assert set(of(found, "Node")) == set(of(found, "MachineConfig")) == set(of(found, "ConfigurationApply")) == names
    assert set(of(found, "Release")) == names
    assert len(of(found, "Bootstrap")) == len(of(found, "Kubeconfig")) == len(of(found, "Secrets")) == 1


def test_only_secrets_kubeconfig_and_machines_of_control_planes_are_protected(found: Found, topology: Topology) -> None:
    planes = {("VmLegacy", node.name) for node in topology.controlplanes if topology.platform.kind == "proxmox"}
    protected = {key for key, request in found.items() if request.protect}
    assert protected == {("Secrets", "machine-secrets"), ("Kubeconfig", "kubeconfig"), *planes}


def test_nothing_is_replaced_because_of_another_name_in_the_past(found: Found) -> None:
    assert not [key for key, request in found.items() if request.aliases or request.replaceOnChanges]


@pytest.mark.parametrize(
    ("kind", "ignored"),
    [
        ("Secrets", ["talosVersion"]),
        ("Bootstrap", ["node", "endpoint", "clientConfiguration", "timeouts"]),
        ("Kubeconfig", ["timeouts"]),
        ("VmLegacy", ["disks[0].importFrom", "initialization"]),
    ],
)
def test_what_matters_at_creation_only_is_ignored_later(kind: str, ignored: list[str], found: Found) -> None:
    for request in of(found, kind).values():
        assert list(request.ignoreChanges) == ignored


def test_a_configuration_is_applied_anew_to_a_machine_that_was_replaced(found: Found, topology: Topology) -> None:
    for name, request in of(found, "ConfigurationApply").items():
        vms = {f"proxmoxve:index/vmLegacy:VmLegacy::{name}"} if topology.platform.kind == "proxmox" else set()
        assert ends(request.replace_with) == {*vms, f"talos-lifecycle:index:Release::{name}"}
        assert vms <= ends(request.dependencies)


def test_a_configuration_comes_after_the_release_that_may_have_to_read_it(found: Found) -> None:
    for name, request in of(found, "ConfigurationApply").items():
        assert f"talos-lifecycle:index:Release::{name}" in ends(request.dependencies)


def test_a_vm_that_is_replaced_goes_before_its_successor_comes(found: Found) -> None:
    assert all(request.deleteBeforeReplace for request in of(found, "VmLegacy").values())


@pytest.mark.parametrize(
    ("kind", "moment", "hooks"),
    [
        ("ConfigurationApply", "before_create", ["a node may join"]),
        ("ConfigurationApply", "before_update", ["what is not read again", "a node may change"]),
        ("ConfigurationApply", "after_create", ["a node has joined"]),
        ("ConfigurationApply", "after_update", ["a node is back"]),
        ("ConfigurationApply", "on_error", ["a node failed"]),
        ("Release", "before_create", ["a machine may be upgraded"]),
        ("Release", "before_update", ["a machine may be upgraded"]),
        ("Release", "after_create", ["a machine is upgraded"]),
        ("Release", "after_update", ["a machine is upgraded"]),
        ("Release", "on_error", ["an upgrade failed"]),
        ("VmLegacy", "before_update", ["a machine may change"]),
        ("VmLegacy", "after_update", ["a machine is back"]),
        ("VmLegacy", "on_error", ["a machine failed"]),
        ("Kubeconfig", "before_create", ["the cluster is healthy"]),
    ],
)
def test_the_gates_stand_before_and_after_each_change(kind: str, moment: str, hooks: list[str], found: Found) -> None:
    for request in of(found, kind).values():
        assert list(getattr(request.hooks, moment)) == hooks


def test_nothing_else_has_hooks(found: Found) -> None:
    with_hooks = {kind for (kind, _), request in found.items() if request.hooks.ByteSize()}
    assert with_hooks <= {"ConfigurationApply", "Release", "VmLegacy", "Kubeconfig"}


def test_the_bootstrap_waits_for_the_configuration_of_its_own_node_alone(found: Found, topology: Topology) -> None:
    (bootstrap,) = of(found, "Bootstrap").values()
    applied = {urn for urn in ends(bootstrap.dependencies) if "ConfigurationApply" in urn}
    assert applied == {f"talos:machine/configurationApply:ConfigurationApply::{topology.bootstrap.name}"}


def test_the_kubeconfig_depends_on_everything_so_that_a_destroy_comes_to_it_first(found: Found) -> None:
    known = {f"{request.type}::{name}": request for (kind, name), request in found.items() if kind != "Stack"}
    (kubeconfig,) = urns(found, "Kubeconfig")
    below, todo = set[str](), [kubeconfig]
    while todo:
        urn = todo.pop()
        if urn in known and urn not in below:
            below.add(urn)
            request = known[urn]
            todo += ends([*request.dependencies, request.parent, request.provider.rpartition("::")[0]])
    assert below == set(known)


def test_what_is_on_record_is_read_first_and_of_the_secrets_too(found: Found) -> None:
    assert [len(found[key].state_migrations) for key in (("BringUp", "bring-up"), ("Secrets", "machine-secrets"))] == [
        1,
        1,
    ]
    order = list(found)
    assert order.index(("BringUp", "bring-up")) < min(order.index(key) for key in found if found[key].custom)


def test_the_images_of_a_host_wait_for_the_factory(found: Found) -> None:
    for request in of(found, "File").values():
        assert any("Schematic" in urn for urn in ends(request.dependencies))


def test_what_one_node_is_made_of_does_not_depend_on_another(found: Found, topology: Topology) -> None:
    for name, request in of(found, "ConfigurationApply").items():
        others = {node.name for node in topology.nodes} - {name}
        assert not {urn.rpartition("::")[2] for urn in ends(request.dependencies)} & others
