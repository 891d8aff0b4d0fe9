"""``Kubeconfig``: the administrator's kubeconfig, fetched from a control plane and renewed before it ends."""

from datetime import timedelta

import yaml

from lab.standin.resource import ProviderError, Resource, get
from lab.standin.talos import bundle, connect, package
from lab.standin.values import UNKNOWN, Properties, Value
from machinery.goform import duration
from talosapi import Client

_COMPUTED = ("kubeconfigRaw", "kubernetesClientConfiguration")


class Kubeconfig(Resource):
    """Named after the cluster. It stays as it is until its certificate ends within ``certificateRenewalDuration``."""

    schema = package.KUBECONFIG

    async def plan(self, state: Properties | None, inputs: Properties) -> Properties:
        """Keep what was fetched unless it ends soon; reading the certificate fails for one that is none."""
        planned = {"certificateRenewalDuration": "720h", "endpoint": inputs["node"], **inputs}
        kept = {name: state.get(name) for name in _COMPUTED} if state else dict.fromkeys(_COMPUTED, UNKNOWN)
        if state and _ends_soon(state, planned):
            kept = dict.fromkeys(_COMPUTED, UNKNOWN)
        return {**planned, **kept}

    async def create(self, planned: Properties, inputs: Properties) -> tuple[str, Properties]:
        """Fetch it."""
        cluster, fetched = await _fetch(planned, "create")
        return cluster, {**planned, **fetched}

    async def update(self, identity: str, state: Properties, planned: Properties, inputs: Properties) -> Properties:
        """Fetch it again when it ends soon, else keep it."""
        if not _ends_soon(state, planned):
            return {**planned, **{name: state.get(name) for name in _COMPUTED}}
        _, fetched = await _fetch(planned, "update")
        return {**planned, **fetched}


def _ends_soon(state: Properties, planned: Properties) -> bool:
    certificate = get(state, "kubernetesClientConfiguration", "clientCertificate")
    text = planned["certificateRenewalDuration"]
    if certificate is None or text is UNKNOWN:
        return False
    nanoseconds = duration(text)
    if nanoseconds is None:
        raise ProviderError(f"failed to parse certificate renewal duration in plan: {text}")
    return bundle.expires_within(certificate, "kubernetes client certificate", timedelta(seconds=nanoseconds / 1e9))


async def _fetch(planned: Properties, operation: str) -> tuple[str, Properties]:
    credentials = bundle.credentials(planned)
    raw = await connect.persistently(
        lambda: connect.either_way(planned, credentials, Client.kubeconfig),
        connect.timeout_of(planned, operation),
        "failed to retrieve kubeconfig",
    )
    name, client = _read(raw)
    return name, {"kubeconfigRaw": raw, "kubernetesClientConfiguration": client}


def _read(raw: str) -> tuple[str, Properties]:
    """Return the cluster's name and the client configuration; one without them crashes the real plugin."""
    try:
        document = yaml.load(raw, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise ProviderError("failed to parse kubeconfig: it is not YAML") from error
    context = _named(document, "contexts", get(document, "current-context"), "context")
    name = get(context, "cluster")
    cluster = _named(document, "clusters", name, "cluster")
    user = _named(document, "users", get(context, "user"), "user")
    if not cluster or not user:
        raise ProviderError("the kubeconfig names no cluster and user: the real plugin crashes on it")
    client = {
        "host": cluster.get("server", ""),
        "caCertificate": cluster.get("certificate-authority-data", ""),
        "clientCertificate": user.get("client-certificate-data", ""),
        "clientKey": user.get("client-key-data", ""),
    }
    return str(name), client


def _named(document: Value, section: str, name: Value, key: str) -> Properties:
    for item in get(document, section, default=[]):
        if get(item, "name") == name:
            found = get(item, key)
            return found if isinstance(found, dict) else {}
    return {}
