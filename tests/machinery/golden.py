"""The recorded answers of the real Talos provider, and the marks they carry instead of secrets."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import yaml

from machinery import GenerateArgs
from machinery.secrets import Bundle, KeyPair

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "machine-configuration.json").read_text(encoding="utf-8")
)
NAMES = [case["name"] for case in CASES]


def _pair(name: str) -> KeyPair:
    return KeyPair(f"crt of {name}", f"key of {name}")


BUNDLE = Bundle(
    cluster_id="<cluster.id>",
    cluster_secret="<cluster.secret>",
    bootstrap_token="<secrets.bootstraptoken>",
    trustd_token="<trustdinfo.token>",
    secretbox_encryption_secret="<secrets.secretboxencryptionsecret>",
    etcd=_pair("etcd"),
    k8s=_pair("k8s"),
    k8s_aggregator=_pair("k8saggregator"),
    k8s_service_account=_pair("k8sserviceaccount"),
    os=_pair("os"),
)
MARKS = {
    base64.b64encode(f"{part} of {name}".encode()).decode(): f"<certs.{name}.{part}>"
    for name in ("etcd", "k8s", "k8saggregator", "k8sserviceaccount", "os")
    for part in ("crt", "key")
}


class _Loader(yaml.SafeLoader):
    """Reads like the recorder did: YAML 1.1 numbers, and `off` as a string."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))


def arguments(case: dict[str, Any]) -> GenerateArgs:
    """Return a case's arguments with secrets that can be told apart."""
    args = case["args"]
    return GenerateArgs(
        cluster_name=args["clusterName"],
        cluster_endpoint=args["clusterEndpoint"],
        machine_type=args["machineType"],
        machine_secrets=BUNDLE,
        talos_version=args["talosVersion"],
        kubernetes_version=args["kubernetesVersion"],
        patches=tuple(case["patches"]),
    )


def documents(text: str) -> list[Any]:
    """Return the documents of a generated text, with its secrets marked as in the recording."""
    return [_marked(document) for document in yaml.load_all(text, _Loader)]


def _marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    return MARKS.get(value, value) if isinstance(value, str) else value
