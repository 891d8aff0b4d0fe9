"""The schemas read from the SDKs are those of the real plugins."""

import json
from typing import Any

import pytest

from lab.standin.proxmoxve import package as proxmoxve
from lab.standin.schema import (
    Failure,
    FunctionSchema,
    ListOf,
    MapOf,
    ObjectOf,
    Property,
    ResourceSchema,
    Scalar,
    Type,
    check_properties,
    mark_secrets,
)
from lab.standin.talos import package as talos
from lab.standin.values import UNKNOWN, Secret
from tests.shared import shared

Flags = tuple[str, bool, bool]
#: Where SDK 8.6.0 and the recorded schema of 8.3.0 differ. (The recording leaves descriptions out, and this with them.)
NEWER_SDK = {"proxmoxve:index/vmLegacy:VmLegacy": {"description"}}


def flatten(properties: dict[str, Property], path: str = "") -> dict[str, Flags]:
    found: dict[str, Flags] = {}
    for name, declared in properties.items():
        found[path + name] = (kind(declared.type), declared.required, declared.secret)
        inner = declared.type
        while isinstance(inner, ListOf | MapOf):
            inner = inner.item
        if isinstance(inner, ObjectOf):
            found |= flatten(dict(inner.properties), f"{path}{name}.")
    return found


def kind(declared: Type) -> str:
    if isinstance(declared, Scalar):
        return declared.name
    if isinstance(declared, ListOf):
        return f"list of {kind(declared.item)}"
    return f"map of {kind(declared.item)}" if isinstance(declared, MapOf) else "object"


def recorded(
    schema: dict[str, Any], properties: dict[str, Any], required: list[str], path: str = ""
) -> dict[str, Flags]:
    found: dict[str, Flags] = {}
    for name, declared in properties.items():
        found[path + name] = (recorded_kind(declared), name in required, declared.get("secret", False))
        inner = declared
        while "items" in inner or "additionalProperties" in inner:
            inner = inner.get("items") or inner["additionalProperties"]
        target = schema["types"].get(inner.get("$ref", "").removeprefix("#/types/"))
        if target:
            found |= recorded(schema, target["properties"], target.get("required", []), f"{path}{name}.")
    return found


def recorded_kind(declared: dict[str, Any]) -> str:
    if "$ref" in declared:
        return "object"
    if declared["type"] == "array":
        return f"list of {recorded_kind(declared['items'])}"
    if declared["type"] == "object":
        return f"map of {recorded_kind(declared['additionalProperties'])}"
    return str(declared["type"])


def compare(found: dict[str, Flags], expected: dict[str, Flags]) -> dict[str, tuple[Flags | None, Flags | None]]:
    names = found.keys() | expected.keys()
    return {name: (found.get(name), expected.get(name)) for name in names if found.get(name) != expected.get(name)}


@pytest.mark.parametrize(
    "read", [proxmoxve.VM, proxmoxve.POOL, proxmoxve.FILE, proxmoxve.FILE_LEGACY, proxmoxve.PCI], ids=lambda s: s.token
)
def test_a_proxmoxve_resource_has_the_properties_of_the_real_plugin(read: ResourceSchema) -> None:
    schema = json.loads(shared("providers/proxmoxve.json").read_text())
    real = schema["resources"][read.token]
    inputs = recorded(schema, real["inputProperties"], real.get("requiredInputs", []))
    outputs = recorded(schema, real["properties"], real.get("required", []))
    newer = NEWER_SDK.get(read.token, set())
    assert compare(flatten(dict(read.inputs)), inputs).keys() == newer
    assert compare(flatten(dict(read.outputs)), outputs).keys() == newer


def test_the_proxmoxve_configuration_is_that_of_the_real_plugin() -> None:
    schema = json.loads(shared("providers/proxmoxve.json").read_text())
    real = recorded(schema, schema["provider"]["inputProperties"], [])
    assert compare(flatten(dict(proxmoxve.CONFIGURATION)), real) == {}


def test_what_a_schema_does_not_declare_is_refused() -> None:
    failures = check_properties(proxmoxve.VM.inputs, {"nodeName": "pve", "memory": {"dedicated": 512, "size": 1}})
    assert [failure.property for failure in failures] == ["memory.size"]
    assert "unknown property memory.size; known here: dedicated" in failures[0].reason


def test_wrong_types_and_missing_properties_are_refused_together() -> None:
    failures = check_properties(
        proxmoxve.VM.inputs, {"vmId": "121", "started": 1, "tags": "talos", "disks": [{"size": True}], "cpu": []}
    )
    assert sorted(failure.reason for failure in failures) == [
        "cpu must be an object, not a list",
        "disks[0].size must be of type integer, not boolean",
        "missing required property disks[0].interface",
        "missing required property nodeName",
        "started must be of type boolean, not integer",
        "tags must be a list, not string",
        "vmId must be of type integer, not string",
    ]


def test_unknown_values_fit_every_type() -> None:
    assert check_properties(proxmoxve.POOL.inputs, {"poolId": UNKNOWN, "comment": UNKNOWN}) == []
    assert check_properties(proxmoxve.POOL.inputs, {}) == [Failure("poolId", "missing required property poolId")]


def test_secrets_are_marked_where_the_schema_says_so_and_never_shown() -> None:
    marked = mark_secrets(proxmoxve.VM.inputs, {"initialization": {"userAccount": {"username": "a", "password": "b"}}})
    account = marked["initialization"]["userAccount"]
    assert account["username"] == "a"
    assert isinstance(account["password"], Secret)
    assert account["password"].value == "b"
    assert repr(account["password"]) == "Secret(...)"


@pytest.mark.parametrize(
    "read",
    [talos.MACHINE_SECRETS, talos.CONFIGURATION_APPLY, talos.BOOTSTRAP, talos.KUBECONFIG, talos.SCHEMATIC],
    ids=lambda s: s.token,
)
def test_a_talos_resource_has_the_properties_of_the_real_plugin(read: ResourceSchema) -> None:
    schema = json.loads(shared("providers/talos.json").read_text())
    real = schema["resources"][read.token]
    inputs = recorded(schema, real["inputProperties"], real.get("requiredInputs", []))
    outputs = recorded(schema, real["properties"], real.get("required", []))
    assert compare(without_generated(flatten(dict(read.inputs))), inputs) == {}
    assert compare(without_generated(flatten(dict(read.outputs))), outputs) == {}


@pytest.mark.parametrize(
    "read", [talos.GET_CONFIGURATION, talos.GET_CLIENT_CONFIGURATION, talos.GET_URLS], ids=lambda s: s.token
)
def test_a_talos_function_has_the_properties_of_the_real_plugin(read: FunctionSchema) -> None:
    schema = json.loads(shared("providers/talos.json").read_text())
    real = schema["functions"][read.token]
    inputs = recorded(schema, real["inputs"]["properties"], real["inputs"]["required"])
    assert compare(without_generated(flatten(dict(read.inputs))), inputs) == {}


def without_generated(found: dict[str, Flags]) -> dict[str, Flags]:
    """Leave out what the recorded schema only names: the four parts of ``MachineSecrets``."""
    return {
        name: flags for name, flags in found.items() if name.count(".") < 2 or not name.startswith("machineSecrets")
    }


def test_the_talos_configuration_is_that_of_the_real_plugin() -> None:
    schema = json.loads(shared("providers/talos.json").read_text())
    real = recorded(schema, schema["provider"]["inputProperties"], [])
    assert compare(flatten(dict(talos.CONFIGURATION)), real) == {}


def test_every_private_part_of_the_machine_secrets_is_marked() -> None:
    found = flatten(dict(talos.MACHINE_SECRETS.outputs))
    assert sorted(name for name, (_, _, secret) in found.items() if secret) == [
        "clientConfiguration.clientKey",
        "machineSecrets.certs.etcd.key",
        "machineSecrets.certs.k8s.key",
        "machineSecrets.certs.k8sAggregator.key",
        "machineSecrets.certs.k8sServiceaccount.key",
        "machineSecrets.certs.os.key",
        "machineSecrets.cluster.secret",
        "machineSecrets.secrets.aescbcEncryptionSecret",
        "machineSecrets.secrets.bootstrapToken",
        "machineSecrets.secrets.secretboxEncryptionSecret",
        "machineSecrets.trustdinfo.token",
    ]
