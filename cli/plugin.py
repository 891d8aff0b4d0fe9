"""The provider plugin that preview uses, asked for a machine configuration without an engine around it."""

import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import grpc
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from cli.errors import CliError
from machinery import GenerateArgs
from machinery.secrets import to_properties

TOKEN = "talos:machine/getConfiguration:getConfiguration"  # noqa: S105 - the name of a function
_START = 60.0  # seconds
_CALL = 60.0  # seconds
_LARGEST = 400 << 20  # bytes, as in the engine


class Plugin:
    """A running plugin, as a context manager. What it prints is dropped: it may quote what it was given."""

    def __init__(self, program: Path) -> None:
        """Start nothing yet."""
        self._program = program

    def __enter__(self) -> Self:
        """Start it and connect; raises CliError."""
        try:
            self._process = subprocess.Popen(
                [self._program],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
                text=True,
            )
        except OSError as error:
            raise CliError(f"the Talos provider cannot be started ({self._program}): {error.strerror}") from None
        options = [("grpc.max_receive_message_length", _LARGEST), ("grpc.max_send_message_length", _LARGEST)]
        try:
            self._channel = grpc.insecure_channel(f"127.0.0.1:{self._port()}", options)
            grpc.channel_ready_future(self._channel).result(timeout=_START)
            self._stub = provider_pb2_grpc.ResourceProviderStub(self._channel)
            self._called(self._stub.Configure, provider_pb2.ConfigureRequest(args=Struct()))
        except grpc.FutureTimeoutError:
            self._end()
            raise CliError(f"the Talos provider does not answer ({self._program})") from None
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._channel.close()
        self._end()

    def configuration(self, args: GenerateArgs) -> str:
        """The final configuration; raises CliError with the provider's own words, which the caller masks."""
        given = Struct()
        given.update(_properties(args))
        answer = self._called(self._stub.Invoke, provider_pb2.InvokeRequest(tok=TOKEN, args=given))
        if answer.failures:
            raise CliError("; ".join(f"{failure.property}: {failure.reason}" for failure in answer.failures))
        text = MessageToDict(getattr(answer, "return")).get("machineConfiguration")
        text = text.get("value") if isinstance(text, dict) else text  # a secret comes in an envelope
        if not isinstance(text, str):
            raise CliError("the Talos provider gave no machine configuration")
        return text

    def _called(self, method: Any, request: Any) -> Any:
        try:
            return method(request, timeout=_CALL)
        except grpc.RpcError as error:
            said = error.details() if isinstance(error, grpc.Call) else ""
            raise CliError(f"the Talos provider refuses: {said or 'the connection broke'}") from None

    def _port(self) -> int:
        line = self._process.stdout.readline().strip() if self._process.stdout else ""
        if not line.isdigit():
            raise CliError(f"the Talos provider ends without saying its port ({self._program})")
        return int(line)

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()


def _properties(args: GenerateArgs) -> dict[str, Any]:
    return {
        "clusterName": args.cluster_name,
        "clusterEndpoint": args.cluster_endpoint,
        "machineType": args.machine_type,
        "machineSecrets": to_properties(args.machine_secrets),
        "talosVersion": args.talos_version,
        "kubernetesVersion": args.kubernetes_version,
        "configPatches": list(args.patches),
        "docs": args.docs,
        "examples": args.examples,
    }
