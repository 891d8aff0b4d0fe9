"""A stand-in as a process: what the engine sees of it, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2 as proto
from pulumi.runtime.proto import provider_pb2_grpc

from lab.standin.values import decode, encode
from machinery import generate_secrets
from machinery.secrets import to_properties
from tests.waiting import eventually

ENGINE = "127.0.0.1:1"


@contextmanager
def started(module: str) -> Iterator[tuple["subprocess.Popen[str]", Any]]:
    command = [sys.executable, "-m", module, ENGINE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield process, provider_pb2_grpc.ResourceProviderStub(channel)
        finally:
            process.kill()


@pytest.mark.parametrize(("module", "version"), [("lab.standin.talos", "0.8.1"), ("lab.standin.proxmoxve", "8.6.0")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_plugin_prints_its_port_tells_its_version_and_ends_quietly(
    module: str, version: str, number: signal.Signals
) -> None:
    with started(module) as (process, stub):
        assert stub.GetPluginInfo(empty_pb2.Empty()).version == version
        assert stub.Handshake(proto.ProviderHandshakeRequest(engine_address=ENGINE)) is not None
        assert not stub.Configure(proto.ConfigureRequest(args=encode(CONFIGURATIONS[module]))).acceptSecrets
        process.send_signal(number)
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


CONFIGURATIONS = {
    "lab.standin.talos": {"imageFactoryUrl": "https://127.0.10.2:8443"},
    "lab.standin.proxmoxve": {
        "endpoint": "https://pve:8006",
        "apiToken": "root@pam!talos=4d46348e-69fd-4d16-9dc3-9d67ce5e1f09",
    },
}


def test_a_plugin_ends_when_the_engine_is_gone() -> None:
    script = (
        "import subprocess, sys, time\n"
        f"plugin = subprocess.Popen([sys.executable, '-m', 'lab.standin.talos', '{ENGINE}'], stdout=subprocess.PIPE)\n"
        "plugin.stdout.readline()\n"
        "print(plugin.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout is not None
        plugin = int(engine.stdout.readline())
        engine.kill()
    eventually(lambda: not is_running(plugin), within=20, what="the end of the plugin")


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_two_hundred_configurations_come_quickly() -> None:
    secrets = to_properties(generate_secrets("v1.6"))
    requests = [
        proto.InvokeRequest(
            tok="talos:machine/getConfiguration:getConfiguration",
            args=encode(
                {
                    "clusterName": "demo",
                    "clusterEndpoint": "https://10.5.0.5:6443",
                    "machineType": "worker",
                    "machineSecrets": secrets,
                    "talosVersion": "v1.13",
                    "kubernetesVersion": "v1.36.2",
                    "configPatches": ["machine:\n  sysctls:\n    a: b\n"] * 5
                    + [f"machine:\n  nodeLabels:\n    number: '{number}'\n" for _ in range(3)],
                }
            ),
        )
        for number in range(200)
    ]
    with started("lab.standin.talos") as (_, stub), ThreadPoolExecutor(8) as threads:
        stub.Invoke(requests[0])
        begin = time.monotonic()
        answers = list(threads.map(stub.Invoke, requests))
        took = (time.monotonic() - begin) / len(requests)
    texts = {decode(getattr(answer, "return"))["machineConfiguration"] for answer in answers}
    assert len(texts) == 200
    # 5 ms is the goal on two idle cores, where the real plugin takes 3.5 ms; a busy machine is slower.
    assert took < 0.05, f"{took * 1000:.1f} ms each"
