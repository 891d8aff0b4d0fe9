"""The calls recorded from the real Talos plugin: filling in what they leave out, and comparing with them."""

import base64
import json
from collections.abc import Callable
from functools import cache
from typing import Any

from google.protobuf.struct_pb2 import Struct, Value

from lab.standin.talos import bundle
from machinery import Bundle, GenerateArgs, generate_configuration, generate_secrets
from tests.shared import shared

SIGNATURE, UNKNOWN = "4dabf18193072939515e22adb298388d", "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


@cache
def recorded() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shared("golden/talos-provider.json").read_text())
    return found


@cache
def secrets() -> Bundle:
    return generate_secrets("v1.6")  # the contract with the quickest keys


@cache
def client() -> dict[str, str]:
    found: dict[str, str] = bundle.client_configuration(secrets())
    return found


@cache
def configuration() -> str:
    return generate_configuration(GenerateArgs("demo", "https://192.168.1.120:6443", "controlplane", secrets()))


def real(value: Any, key: str = "") -> Any:
    """Put something of the right kind where the recording names only the kind."""
    if isinstance(value, dict):
        if "<secret>" in value:
            return real(value["<secret>"], key)
        return {name: real(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [real(item) for item in value]
    return {"<base64 PEM>": client().get(key), "<machine configuration>": configuration()}.get(value, value)


def shown(struct: Struct) -> dict[str, Any]:
    """Return a struct with secrets marked as in the recording."""
    return {name: _shown(value) for name, value in struct.fields.items()}


def _shown(value: Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        inner = shown(value.struct_value)
        return {"<secret>": inner["value"]} if SIGNATURE in inner else inner
    if kind == "list_value":
        return [_shown(item) for item in value.list_value.values]
    return None if kind == "null_value" else getattr(value, str(kind))


def is_like(actual: Any, expected: Any) -> bool:
    """Compare with a recorded value; a kind in angle brackets stands for every value of the kind."""
    if isinstance(expected, dict):
        same = isinstance(actual, dict) and actual.keys() == expected.keys()
        return same and all(is_like(actual[name], item) for name, item in expected.items())
    if isinstance(expected, str) and expected in KINDS:
        return KINDS[expected](actual)
    return bool(actual == expected)


KINDS: dict[str, Callable[[Any], bool]] = {
    "<base64 PEM>": lambda value: base64.b64decode(value).startswith(b"-----BEGIN "),
    "<machine configuration>": lambda value: "\nmachine:" in value,
    "<string>": lambda value: isinstance(value, str) and bool(value),
    "<kubeconfig>": lambda value: "current-context: admin@demo" in value,
    "<talosconfig>": lambda value: "context: demo" in value,
    "<uuid, a placeholder in preview>": lambda value: bool(value == UNKNOWN),
}
