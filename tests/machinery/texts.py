"""Short ways to make configurations for tests."""

from collections.abc import Sequence
from textwrap import dedent
from typing import Any

from machinery import Configuration, GenerateArgs, generate_configuration, parse_configuration
from tests.machinery.golden import BUNDLE


def generated(*patches: str, machine_type: str = "controlplane", talos_version: str = "v1.13") -> str:
    """Return the text of a configuration with patches, which may be indented."""
    return generate_configuration(arguments(*patches, machine_type=machine_type, talos_version=talos_version))


def arguments(*patches: str, machine_type: str = "controlplane", talos_version: str = "v1.13") -> GenerateArgs:
    """Return what a configuration is generated from."""
    texts: Sequence[str] = [dedent(patch) for patch in patches]
    return GenerateArgs(
        cluster_name="demo",
        cluster_endpoint="https://192.168.1.120:6443",
        machine_type=machine_type,
        machine_secrets=BUNDLE,
        talos_version=talos_version,
        kubernetes_version="v1.33.0",
        patches=texts,
    )


def configured(*patches: str, machine_type: str = "controlplane", talos_version: str = "v1.13") -> Configuration:
    """Return a configuration with patches, read again."""
    return parse_configuration(generated(*patches, machine_type=machine_type, talos_version=talos_version))


def values(configuration: Configuration, kind: str) -> dict[str, Any]:
    """Return the values of the only document of a kind."""
    (document,) = configuration.of_kind(kind)
    return document.values
