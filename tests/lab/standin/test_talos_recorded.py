"""The stand-in answers each call that was recorded from the real Talos plugin as the real one did."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2 as proto

from lab.standin.talos import connect
from lab.standin.talos.provider import Talos
from lab.standin.values import encode
from machinery import kubeconfig
from talosapi.results import ApplyMode
from tests.lab.standin.plugin import Plugin, served, urn
from tests.lab.standin.recording import is_like, real, recorded, secrets, shown

SECRETS, APPLY = "talos:machine/secrets:Secrets", "talos:machine/configurationApply:ConfigurationApply"
BOOTSTRAP, KUBECONFIG = "talos:machine/bootstrap:Bootstrap", "talos:cluster/kubeconfig:Kubeconfig"
SCHEMATIC = "talos:imageFactory/schematic:Schematic"

#: Recorded calls that only say in words what was changed.
CHANGES: dict[tuple[str, str], dict[str, Any]] = {
    (SECRETS, "newer patch version"): {"talosVersion": "v1.13.1"},
    (SECRETS, "older version"): {"talosVersion": "v1.12.0"},
    (SECRETS, "version left out"): {"talosVersion": None},
    (APPLY, "node"): {"node": "10.5.0.3"},
    (APPLY, "a patch added"): {"configPatches": ["machine:\n  install:\n    disk: /dev/vda\n"]},
    (APPLY, "apply mode"): {"applyMode": "no_reboot"},
    (APPLY, "on destroy"): {"onDestroy": {"reset": True}},
    (BOOTSTRAP, "node"): {"node": "10.5.0.3"},
    (KUBECONFIG, "node"): {"node": "10.5.0.3"},
}


class Machine:
    """Takes everything: what goes over the wire is tested elsewhere."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    async def __aenter__(self) -> "Machine":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def disks(self) -> tuple[()]:
        return ()

    async def apply(self, configuration: str, *, mode: ApplyMode = ApplyMode.AUTO, dry_run: bool = False) -> None:
        assert "machine:" in configuration


@pytest.fixture
async def plugin(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Plugin]:
    monkeypatch.setattr(connect, "Client", Machine)
    monkeypatch.setattr("lab.standin.talos.machine_secrets.generate_secrets", lambda _: secrets())

    async def bootstrap(_: Any) -> None:
        return None

    async def fetch(_: Any) -> str:
        return kubeconfig("demo", "https://192.168.1.120:6443", secrets())

    monkeypatch.setattr("lab.standin.talos.bootstrap.Client.bootstrap", bootstrap)
    monkeypatch.setattr("lab.standin.talos.kubeconfig.Client.kubeconfig", fetch)
    async with served(Talos()) as plugin:
        yield plugin


async def state_of(plugin: Plugin, token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    created = next(item for item in recorded() if item["call"] == "Create" and item["resource"] == token)
    inputs = real(created["properties"])
    return inputs, (await plugin.create(token, inputs))[1]


@pytest.mark.parametrize("index", range(45))
async def test_a_recorded_call_is_answered_alike(plugin: Plugin, index: int) -> None:
    assert len(recorded()) == 45
    item = recorded()[index]
    await REPLAY[item["call"]](plugin, item)


async def replay_check(plugin: Plugin, item: dict[str, Any]) -> None:
    request = proto.CheckRequest(urn=urn(item["resource"]), news=encode(real(item["news"])))
    if "error" in item:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await plugin.stub.Check(request)
        assert caught.value.details() == item["error"]
        return
    answer = await plugin.stub.Check(request)
    assert is_like(shown(answer.inputs), item["inputs"])
    failures = [{"property": failure.property, "reason": failure.reason} for failure in answer.failures]
    if "nope" in item["news"]:  # stricter than the real one
        assert [failure["property"] for failure in failures] == ["nope"]
    else:
        assert failures == item["failures"]


async def replay_create(plugin: Plugin, item: dict[str, Any]) -> None:
    preview = item["call"] != "Create"
    request = proto.CreateRequest(
        urn=urn(item["resource"]), properties=encode(real(item["properties"])), preview=preview
    )
    answer = await plugin.stub.Create(request)
    assert answer.id == item["id"]
    outputs = shown(answer.properties)
    assert outputs.keys() == item["outputs"].keys()
    assert {name: value for name, value in outputs.items() if not is_like(value, item["outputs"][name])} == {}


async def replay_diff(plugin: Plugin, item: dict[str, Any]) -> None:
    inputs, state = await state_of(plugin, item["resource"])
    news = {**inputs, **CHANGES.get((item["resource"], item["what"]), {})}
    answer = await plugin.diff(item["resource"], state, news)
    assert proto.DiffResponse.DiffChanges.Name(answer.changes) == item["changes"]
    assert list(answer.replaces) == item["replaces"]
    assert sorted(answer.diffs) == item["diffs"]
    assert not answer.hasDetailedDiff  # of the real one the engine logs an empty one, and shows its own


async def replay_invoke(plugin: Plugin, item: dict[str, Any]) -> None:
    request = proto.InvokeRequest(tok=item["resource"], args=encode(real(item["args"])))
    if "error" in item:  # asks a machine that is not there; these are not simulated at all
        with pytest.raises(grpc.aio.AioRpcError, match="getDisks is not simulated here"):
            await plugin.stub.Invoke(request)
        return
    answer = await plugin.stub.Invoke(request)
    assert is_like(shown(getattr(answer, "return")), item["returns"])
    failures = [{"property": failure.property, "reason": failure.reason} for failure in answer.failures]
    assert failures == item["failures"]


REPLAY = {
    "Check": replay_check,
    "Create": replay_create,
    "Create in preview": replay_create,
    "Diff": replay_diff,
    "Invoke": replay_invoke,
}
