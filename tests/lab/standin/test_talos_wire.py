"""What the Talos stand-in does to machines, over real TLS."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from grpclib.const import Status
from grpclib.exceptions import GRPCError

from lab.standin.talos import bundle, connect
from lab.standin.talos.provider import Talos
from machinery import GenerateArgs, generate_configuration, generate_secrets
from talosapi import Credentials
from tests.lab.standin.machine import Machine, Mode, running
from tests.lab.standin.plugin import Plugin, served

APPLY, BOOTSTRAP = "talos:machine/configurationApply:ConfigurationApply", "talos:machine/bootstrap:Bootstrap"
KUBECONFIG = "talos:cluster/kubeconfig:Kubeconfig"


@pytest.fixture
async def plugin(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Plugin]:
    monkeypatch.setattr(connect, "_SHORTEST_WAIT", 0.01)
    monkeypatch.setattr(connect, "_LONGEST_WAIT", 0.02)
    async with served(Talos()) as plugin:
        yield plugin


@pytest.fixture(scope="module")
def configuration() -> str:
    return generate_configuration(GenerateArgs("demo", "https://10.5.0.5:6443", "worker", generate_secrets("v1.6")))


async def test_a_machine_in_maintenance_mode_is_configured_without_a_certificate(
    plugin: Plugin, configuration: str
) -> None:
    async with running(Machine(), configured=False) as machine:
        patches = ["machine:\n  install:\n    disk: /dev/vda\n"]
        inputs = machine.inputs(machineConfigurationInput=configuration, configPatches=patches)
        identity, state = await plugin.create(APPLY, inputs)
    assert identity == "machine_configuration_apply"
    assert machine.calls == ["disks", "apply"]
    assert machine.nodes == ["10.5.0.2", "10.5.0.2"]
    assert machine.requests[1].data.decode() == state["machineConfiguration"]
    assert "disk: /dev/vda" in state["machineConfiguration"]


async def test_a_configured_machine_is_asked_again_with_the_certificate(plugin: Plugin, configuration: str) -> None:
    async with running(Machine(), configured=True) as machine:
        inputs = machine.inputs(machineConfigurationInput=configuration, applyMode="no_reboot")
        await plugin.create(APPLY, inputs)
    assert machine.calls == ["apply"]
    assert machine.requests[0].mode == Mode.NO_REBOOT


async def test_everything_but_an_invalid_argument_is_tried_again(plugin: Plugin, configuration: str) -> None:
    def fail(call: str, times: int) -> None:
        if call == "apply" and times < 4:
            raise GRPCError(Status.UNAVAILABLE, "apid is not ready")

    async with running(Machine(fail=fail), configured=True) as machine:
        await plugin.create(APPLY, machine.inputs(machineConfigurationInput=configuration))
    assert machine.calls == ["apply"] * 4


async def test_a_configuration_that_the_machine_refuses_fails_at_once(plugin: Plugin, configuration: str) -> None:
    def fail(call: str, times: int) -> None:
        if call == "apply":
            raise GRPCError(Status.INVALID_ARGUMENT, "unknown keys found during decoding")

    async with running(Machine(fail=fail), configured=False) as machine:
        with pytest.raises(grpc.aio.AioRpcError, match=r"Error applying configuration: .*unknown keys found"):
            await plugin.create(APPLY, machine.inputs(machineConfigurationInput=configuration))
    assert machine.calls.count("apply") == 1


async def test_a_time_limit_for_some_operations_alone_breaks_the_state_as_it_does_in_the_plugin(
    plugin: Plugin, configuration: str
) -> None:
    async with running(Machine(), configured=True) as machine:
        inputs = machine.inputs(machineConfigurationInput=configuration, timeouts={"create": "30s", "update": "30s"})
        with pytest.raises(grpc.aio.AioRpcError, match="recovered raw state does not byte-for-byte match"):
            await plugin.create(APPLY, inputs)
        inputs = machine.inputs(
            machineConfigurationInput=configuration, timeouts=dict.fromkeys(("create", "update", "delete"), "30s")
        )
        await plugin.create(APPLY, inputs)


@pytest.mark.parametrize(("needs", "mode"), [(Mode.NO_REBOOT, Mode.AUTO), (Mode.REBOOT, Mode.STAGED)])
async def test_staged_if_needing_reboot_asks_in_a_dry_run(
    plugin: Plugin, configuration: str, needs: Any, mode: Any
) -> None:
    async with running(Machine(mode=needs), configured=True) as machine:
        inputs = machine.inputs(machineConfigurationInput=configuration, applyMode="staged_if_needing_reboot")
        _, state = await plugin.create(APPLY, inputs)
    assert [(request.dry_run, request.mode) for request in machine.requests] == [(True, Mode.AUTO), (False, mode)]
    assert state["resolvedApplyMode"] == Mode.Mode.Name(mode).lower()
    assert bool(plugin.warnings) == (mode == Mode.STAGED)


async def test_a_preview_of_staged_if_needing_reboot_lives_without_the_machine(
    plugin: Plugin, configuration: str
) -> None:
    inputs = Machine(port=1).inputs(machineConfigurationInput=configuration, applyMode="staged_if_needing_reboot")
    _, planned = await plugin.create(APPLY, inputs, preview=True)
    assert planned["resolvedApplyMode"] == "auto"
    assert "Cannot check reboot requirement" in plugin.warnings[0]


async def test_write_only_values_reach_the_machine_but_not_the_state(plugin: Plugin, configuration: str) -> None:
    async with running(Machine(), configured=True) as machine:
        inputs = machine.inputs(machineConfigurationInputWo=configuration)
        inputs["clientConfigurationWo"] = inputs.pop("clientConfiguration")
        _, state = await plugin.create(APPLY, inputs)
    assert machine.requests[0].data.decode() == configuration
    assert {"machineConfiguration", "machineConfigurationInputWo", "clientConfigurationWo"} & state.keys() == set()
    assert len(state["machineConfigurationHash"]) == 64


async def test_an_etcd_that_is_already_there_is_retried_until_the_time_is_over(plugin: Plugin) -> None:
    def fail(call: str, times: int) -> None:
        raise GRPCError(Status.ALREADY_EXISTS, "etcd data directory is not empty")

    async with running(Machine(fail=fail), configured=True) as machine:
        with pytest.raises(grpc.aio.AioRpcError, match=r"Error bootstrapping node: .*directory is not empty"):
            await plugin.create(BOOTSTRAP, machine.inputs(timeouts={"create": "1s"}))
    assert machine.calls.count("bootstrap") > 1


async def test_a_bootstrap_can_be_imported_without_a_machine(plugin: Plugin) -> None:
    answer = await plugin.read(BOOTSTRAP, "anything", {})
    assert answer.id == "machine_bootstrap"
    assert dict(answer.inputs.fields).keys() == {"timeouts"}
    fields = answer.properties.fields
    assert {name for name in fields if fields[name].WhichOneof("kind") == "null_value"} == {
        "clientConfiguration",
        "clientConfigurationWo",
        "endpoint",
        "node",
    }


async def test_a_kubeconfig_is_fetched_and_named_after_its_cluster(plugin: Plugin) -> None:
    async with running(Machine(), configured=True) as machine:
        inputs = machine.inputs()
        identity, state = await plugin.create(KUBECONFIG, inputs)
    assert identity == "lab"
    assert state["kubernetesClientConfiguration"].keys() == {"host", "caCertificate", "clientCertificate", "clientKey"}
    soon = await plugin.diff(KUBECONFIG, state, {**inputs, "certificateRenewalDuration": "900000h"})
    assert sorted(soon.diffs) == ["certificateRenewalDuration", "kubeconfigRaw", "kubernetesClientConfiguration"]


async def test_destroy_resets_the_machine_only_where_it_is_asked_for(plugin: Plugin, configuration: str) -> None:
    def fail(call: str, times: int) -> None:
        if call == "version":
            raise GRPCError(Status.UNAVAILABLE, "shutting down")

    async with running(Machine(fail=fail), configured=True) as machine:
        state = machine.inputs(machineConfigurationInput=configuration)
        await plugin.delete(APPLY, "x", state)
        assert machine.calls == []
        state["onDestroy"] = {"reset": True, "graceful": False, "reboot": True}
        await plugin.delete(APPLY, "x", state)
    assert machine.calls == ["reset", "version"]
    assert [part.label for part in machine.requests[0].system_partitions_to_wipe] == ["STATE", "EPHEMERAL"]
    assert (machine.requests[0].graceful, machine.requests[0].reboot) == (False, True)


async def test_credentials_that_are_none_are_named_and_not_shown(plugin: Plugin, configuration: str) -> None:
    inputs = Machine(port=1).inputs(machineConfigurationInput=configuration)
    inputs["clientConfiguration"]["clientKey"] = "c2VjcmV0"
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await plugin.create(APPLY, inputs)
    assert "the client configuration cannot be used" in str(caught.value.details())
    assert "c2VjcmV0" not in str(caught.value.details())


def test_an_identity_is_read_from_its_base64_form() -> None:
    credentials = bundle.credentials(Machine().inputs())
    assert isinstance(credentials, Credentials)
    assert credentials.key.startswith(b"-----BEGIN ED25519 PRIVATE KEY")
