"""The plugin process, as the engine starts it and speaks to it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from tests.provider.releases import inputs
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
NO_ENGINE = "127.0.0.1:1"
URN = "urn:pulumi:lab::talos-stacks::talos-lifecycle:index:Release::worker-01"
proto: Any = provider_pb2


@pytest.fixture(scope="module")
def plugin() -> Iterator[Any]:
    """A plugin that serves."""
    process = started([sys.executable, "-P", "-m", "provider", NO_ENGINE])
    assert process.stdout
    port = process.stdout.readline().strip()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield provider_pb2_grpc.ResourceProviderStub(channel)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def started(command: list[str]) -> "subprocess.Popen[str]":
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def struct(values: dict[str, Any]) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(values)
    return made


def diff(plugin: Any, state: dict[str, Any]) -> Any:
    """Compare a state with what is wanted."""
    olds, news = struct(inputs(**state)), struct(inputs())
    return plugin.Diff(proto.DiffRequest(id="worker-01", urn=URN, olds=olds, news=news))


def said(error: "pytest.ExceptionInfo[grpc.RpcError]") -> str:
    return str(error.value.details())


def test_wrong_inputs_come_back_as_failures_of_their_properties(plugin: Any) -> None:
    answer = plugin.Check(proto.CheckRequest(urn=URN, news=struct(inputs(version="1.13"))))
    found = [(failure.property, failure.reason) for failure in answer.failures]
    assert found == [("version", "1.13 is not a version, such as v1.13.9")]


def test_a_preview_sees_what_changes_in_an_upgrade_and_nothing_in_a_setting(plugin: Any) -> None:
    answer = diff(plugin, {"version": "v1.13.9", "timeout": 600})
    assert answer.changes == proto.DiffResponse.DIFF_SOME
    assert {name: each.kind for name, each in answer.detailedDiff.items()} == {"version": proto.PropertyDiff.UPDATE}
    assert diff(plugin, {"timeout": 600, "drainTimeout": 0}).changes == proto.DiffResponse.DIFF_NONE


def test_a_machine_that_was_reset_is_replaced_on_record_so_that_it_is_configured_again(plugin: Any) -> None:
    assert list(diff(plugin, {"stage": "maintenance"}).replaces) == ["stage"]


def test_what_is_refused_is_a_sentence_without_a_traceback(plugin: Any) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        diff(plugin, {"version": "v1.11.6"})
    assert said(raised) == (
        "worker-01: cannot be given v1.13.10: it runs v1.11.6, and goes up one minor version at a time: to the newest"
        " v1.12 first"
    )


def test_the_preview_of_a_new_release_asks_no_machine(plugin: Any) -> None:
    answer = plugin.Create(proto.CreateRequest(urn=URN, properties=struct(inputs()), preview=True))
    assert answer.properties["version"] == "v1.13.10"


def test_without_an_identity_nothing_is_asked_of_a_machine(plugin: Any) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        plugin.Create(proto.CreateRequest(urn=URN, properties=struct(inputs())))
    assert said(raised) == "the provider's configuration lacks ca, crt, key"


def test_the_program_in_the_checkout_starts_from_any_folder(tmp_path: Path) -> None:
    if not (ROOT / ".venv/bin/python").exists():
        pytest.skip("the tests run in another environment than .venv")
    program = ROOT / "provider/pulumi-resource-talos-lifecycle"
    process = subprocess.Popen([program, NO_ENGINE], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout and process.stdout.readline().strip().isdecimal()
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0


def test_it_ends_with_the_engine_that_started_it(tmp_path: Path) -> None:
    told = tmp_path / "told"
    engine = started(["sh", "-c", f"{sys.executable} -P -m provider {NO_ENGINE} > {told} & echo $!; wait"])
    assert engine.stdout
    plugin = int(engine.stdout.readline())
    eventually(lambda: told.exists() and told.read_text().strip(), what="its port")
    engine.kill()
    engine.wait()
    eventually(lambda: not Path(f"/proc/{plugin}").exists(), within=10, what="its end")
