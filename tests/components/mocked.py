"""The whole program in Pulumi's mocks: what it registers, without an engine, a provider or a machine."""

import asyncio
import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast

import pulumi
from pulumi.runtime import mocks, settings
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.stack import run_pulumi_func

from components.cluster import Cluster, ClusterArgs
from components.plan import prepare
from machinery import client_certificate, generate_secrets
from machinery.secrets import to_properties

Inputs = Mapping[str, Any]
Request = resource_pb2.RegisterResourceRequest
_FEATURES = ("STATE_MIGRATIONS", "RESOURCE_HOOKS", "ERROR_HOOKS", "SECRETS", "RESOURCE_REFERENCES", "REPLACE_WITH")


def registered(
    cluster: Mapping[str, Any],
    *,
    secrets: Mapping[str, str] | None = None,
    outputs: Callable[[str, str], Inputs] = lambda kind, name: {},
) -> dict[tuple[str, str], Inputs]:
    """Assemble a cluster; return the inputs of every resource by its type, as `Server`, and its name.

    `secrets` are in the stack's configuration, `outputs` are those of a platform's own resources, by type and name.
    """
    return _assembled(cluster, secrets, outputs).registered


def requests(cluster: Mapping[str, Any], *, secrets: Mapping[str, str] | None = None) -> dict[tuple[str, str], Request]:
    """Assemble a cluster; return what the engine is asked for each resource, with its options, by type and name."""
    return _assembled(cluster, secrets, lambda kind, name: {}).requests


def _assembled(
    cluster: Mapping[str, Any], secrets: Mapping[str, str] | None, outputs: Callable[[str, str], Inputs]
) -> "_Monitor":
    monitor = _Monitor(outputs)
    given = {f"talos-stacks:{key}": value for key, value in (secrets or {}).items()}
    config = {"talos-stacks:cluster": json.dumps(cluster), **given}
    before = settings.SETTINGS

    async def run() -> None:
        stack = str(cluster["name"])
        pulumi.runtime.set_mocks(monitor, project="talos-stacks", stack=stack, monitor=_Recording(monitor))
        features = (f"RESOURCE_MONITOR_FEATURE_{feature}" for feature in _FEATURES)
        settings.SETTINGS.monitor_features |= {getattr(resource_pb2, name) for name in features}
        pulumi.runtime.set_all_config(config, list(given))
        await run_pulumi_func(_assemble)

    try:
        asyncio.run(run())
    finally:
        pulumi.runtime.set_all_config({})
        settings.configure(before)
    return monitor


async def _assemble() -> None:
    plan = prepare(pulumi.Config())
    cluster = Cluster(plan.topology.name, ClusterArgs(plan=plan))
    await cluster.bring_up()
    await cluster.talosconfig.future()


class _Monitor(mocks.Mocks):
    """Answers for the Talos provider, and for a platform with `outputs`."""

    def __init__(self, outputs: Callable[[str, str], Inputs]) -> None:
        self.registered: dict[tuple[str, str], Inputs] = {}
        self.requests: dict[tuple[str, str], Request] = {}
        self._outputs = outputs

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        kind = args.typ.rpartition(":")[2]
        self.registered[kind, args.name] = args.inputs
        made = {**args.inputs, **self._outputs(kind, args.name)}
        if kind == "Secrets":
            made |= _machine_secrets()
        if kind == "Schematic":
            return hashlib.sha256(args.inputs["schematic"].encode()).hexdigest(), made
        if kind == "Kubeconfig":
            made["kubeconfigRaw"] = "kubeconfig"
        return f"{args.name}-id", made

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]]]:
        return {"machineConfiguration": "machine: {}", "talosConfig": "context: mocked"}, []


class _Recording(mocks.MockMonitor):
    """Keeps what the SDK asks the engine for: Pulumi's own keeps no options."""

    def RegisterResource(self, request: Request) -> Any:  # noqa: N802 - the name of the call
        monitor = cast(_Monitor, self.mocks)
        monitor.requests[request.type.rpartition(":")[2], request.name] = request
        return super().RegisterResource(request)  # type: ignore[no-untyped-call]


@cache
def _machine_secrets() -> dict[str, Any]:
    bundle = generate_secrets("v1.13")
    admin = client_certificate(bundle.os)
    client = {"caCertificate": bundle.os.crt, "clientCertificate": admin.crt, "clientKey": admin.key}
    encoded = {name: base64.b64encode(text.encode()).decode() for name, text in client.items()}
    return {"machineSecrets": to_properties(bundle), "clientConfiguration": encoded}
