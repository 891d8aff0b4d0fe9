"""The JSON schema of the stack file is current, takes what loads and refuses unknown keys."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from tests.topology.stacks import CLUSTER_KEY, ROOT, read, stack_files, valid
from topology.platforms import PLATFORMS
from topology.schema import stack_schema

STACKS = sorted(ROOT.glob("Pulumi.*.yaml"))


@pytest.fixture(scope="module")
def validator() -> Draft7Validator:
    Draft7Validator.check_schema(stack_schema())
    return Draft7Validator(stack_schema())


def test_the_published_schema_is_current() -> None:
    published = json.loads((ROOT / "docs" / "stack.schema.json").read_text())
    assert published == stack_schema(), "run make schema"


@pytest.mark.parametrize("file", [*STACKS, *stack_files("valid"), *stack_files("warned")], ids=lambda file: file.stem)
def test_the_schema_takes_every_stack_that_loads(validator: Draft7Validator, file: Path) -> None:
    assert [error.message for error in validator.iter_errors(read(file))] == []


@pytest.mark.parametrize(
    "name", ["unknown-key", "talos-endpoints", "missing-key", "unknown-role", "unquoted-version", "unknown-platform"]
)
def test_the_schema_refuses_what_is_wrong_by_itself(validator: Draft7Validator, name: str) -> None:
    file = next(file for file in stack_files("invalid") if file.stem == name)
    assert not validator.is_valid(read(file))


def test_the_schema_knows_the_keys_of_each_platform(validator: Draft7Validator) -> None:
    for kind, other in (("bare-metal", "cores"), ("proxmox", "installDisk")):
        raw = valid(kind)
        raw["nodes"][0][other] = 4
        assert not validator.is_valid({"config": {CLUSTER_KEY: raw}})


def test_every_key_is_described() -> None:
    definitions = stack_schema()["$defs"]
    for name, model in definitions.items():
        for key, value in {} if name == "cluster" else model.get("properties", {}).items():
            refers_to = definitions.get(value.get("$ref", "").removeprefix("#/$defs/"), {})
            assert value.get("description") or refers_to.get("description"), f"{name}.{key}"


def test_every_platform_is_in_the_schema() -> None:
    assert set(PLATFORMS) <= set(stack_schema()["$defs"])
    assert all("platform" in stack_schema()["$defs"][kind]["properties"] for kind in PLATFORMS)


def test_stack_files_name_the_schema() -> None:
    for file in STACKS:
        assert file.read_text().startswith("# yaml-language-server: $schema=docs/stack.schema.json\n")
