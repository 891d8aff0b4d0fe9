"""What no program of this size can be below: as many resources, as many configurations."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import yaml
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import provider_pb2 as proto
from pulumi.runtime.proto import provider_pb2_grpc

from bench.processes import Cost, measured
from bench.stage import BARE, Stage
from engine import ROOT
from machineconfig import make_plan
from topology import Node

_SECRETS_URN = "urn:pulumi:bench::talos-stacks::talos:machine/secrets:Secrets::machine-secrets"
_MESSAGE_BYTES = 400 << 20
AT_ONCE = (1, 8)
"""Calls under way at the same time; the floor is the faster of the two."""
_COMPONENTS = """\
import pulumi

for number in range({count}):
    pulumi.ComponentResource("bench:index:Trivial", f"trivial-{{number}}")
"""
_CUSTOM = """\
from pulumiverse_talos import Provider, imagefactory

options = pulumi.ResourceOptions(provider=Provider("talos", image_factory_url="{factory}"))
for number in range({count}):
    imagefactory.Schematic(f"schematic-{{number}}", schematic="{{}}", opts=options)
"""


def components(count: int) -> str:
    """Return a program that registers so many components without properties, and nothing else."""
    return _COMPONENTS.format(count=count)


def mixed(resources: int, custom: int, factory: str) -> str:
    """Return a program whose resources are trivial too, but ``custom`` of them the Talos plugin's own.

    They are what costs the plugin least: schematics of the same few characters.
    """
    return components(resources - custom) + _CUSTOM.format(count=custom - 1, factory=factory)


def bare_project(folder: Path, program: str) -> Path:
    """Write a project with this program."""
    folder.mkdir()
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
    project = {"name": f"bench-{folder.name}", "runtime": runtime, "main": "__main__.py"}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
    (folder / f"Pulumi.{BARE}.yaml").write_text("config: {}\n")
    (folder / "__main__.py").write_text(program)
    return folder


class Calls:
    """``getConfiguration`` asked of the plugin itself, once a node, with the patches that the program would send."""

    def __init__(self, stage: Stage) -> None:
        """Render the patches; the plugin makes the secrets."""
        self._stage = stage
        self._plan = make_plan(stage.topology, patches=ROOT / "patches")

    def measure(self, rounds: int) -> dict[int, list[Cost]]:
        """Return the costs of the calls for all nodes, by how many were under way at once."""
        with _plugin(self._stage) as (pid, stub):
            stub.Configure(proto.ConfigureRequest(acceptSecrets=True, acceptResources=True))
            secrets = _struct({"talosVersion": str(self._plan.topology.versions.contract)})
            made = stub.Create(proto.CreateRequest(urn=_SECRETS_URN, properties=secrets, timeout=60))
            bundle = _plain(made.properties)["machineSecrets"]
            requests = [self._request(node, bundle) for node in self._plan.topology.nodes]
            _ask(stub, requests[:1], 1)
            return {
                at_once: [measured(lambda n=at_once: _ask(stub, requests, n), pid) for _ in range(rounds)]  # type: ignore[misc]
                for at_once in AT_ONCE
            }

    def _request(self, node: Node, bundle: dict[str, Any]) -> proto.InvokeRequest:
        topology = self._plan.topology
        args = {
            "clusterName": topology.name,
            "clusterEndpoint": topology.endpoint.url,
            "machineType": node.machine_type,
            "machineSecrets": bundle,
            "talosVersion": str(topology.versions.contract),
            "kubernetesVersion": str(topology.versions.kubernetes),
            "configPatches": [patch.text for patch in self._plan.patches[node.name]],
            "docs": False,
            "examples": False,
        }
        return proto.InvokeRequest(tok="talos:machine/getConfiguration:getConfiguration", args=_struct(args))


def _ask(stub: Any, requests: Sequence[proto.InvokeRequest], at_once: int) -> None:
    with ThreadPoolExecutor(at_once) as threads:
        for answer in threads.map(stub.Invoke, requests):
            if answer.failures:
                raise RuntimeError(f"the plugin refused a benchmark's configuration: {answer.failures[0].reason}")


@contextlib.contextmanager
def _plugin(stage: Stage) -> Iterator[tuple[int, Any]]:
    """Start the plugin that a command inside would find, outside the namespace: these calls need no network."""
    environment = stage.environment()
    process = subprocess.Popen(
        ["pulumi-resource-talos", "127.0.0.1:1"],  # noqa: S607 - the one on the stage's PATH
        env=environment | {"PATH": os.pathsep.join([str(stage.run.bin), environment["PATH"]])},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None  # noqa: S101 - it was asked for
    try:
        port = int(process.stdout.readline())
        size = [("grpc.max_receive_message_length", _MESSAGE_BYTES), ("grpc.max_send_message_length", _MESSAGE_BYTES)]
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=size) as channel:
            yield process.pid, provider_pb2_grpc.ResourceProviderStub(channel)
    finally:
        process.terminate()
        process.wait()


def _struct(values: dict[str, Any]) -> Struct:
    struct = Struct()
    struct.update(values)
    return struct


def _plain(struct: Struct) -> dict[str, Any]:
    """Return the values of a struct, out of the engine's wrapping of secrets."""
    return {key: _value(value) for key, value in struct.fields.items()}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        inner = _plain(value.struct_value)
        return inner["value"] if "value" in inner and len(inner) == 2 else inner
    if kind == "list_value":
        return [_value(item) for item in value.list_value.values]
    return None if kind == "null_value" else getattr(value, kind)
