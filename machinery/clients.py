"""The files that clients are given: talosconfig and kubeconfig."""

from collections.abc import Sequence
from datetime import timedelta

from machinery.emit import dump
from machinery.pki import client_certificate
from machinery.secrets import Bundle, KeyPair, encoded


def talosconfig(
    cluster_name: str, ca_crt: str, client: KeyPair, endpoints: Sequence[str] = (), nodes: Sequence[str] = ()
) -> str:
    """Return a talosconfig with one context named after the cluster; certificates and key are given as PEM."""
    context = {
        "endpoints": list(endpoints),
        **({"nodes": list(nodes)} if nodes else {}),
        "ca": encoded(ca_crt),
        "crt": encoded(client.crt),
        "key": encoded(client.key),
    }
    return dump([{"context": cluster_name, "contexts": {cluster_name: context}}])


def kubeconfig(cluster_name: str, endpoint: str, bundle: Bundle, lifetime: timedelta = timedelta(hours=8760)) -> str:
    """Return a kubeconfig for the cluster's administrator, with a client certificate made now."""
    client = client_certificate(bundle.k8s, "system:masters", "admin", lifetime)
    return kubeconfig_of(cluster_name, endpoint, bundle.k8s.crt, client)


def kubeconfig_of(cluster_name: str, endpoint: str, ca_crt: str, client: KeyPair) -> str:
    """Return a kubeconfig of a server's URL, its CA and a client certificate."""
    user = f"admin@{cluster_name}"
    cluster = {"server": endpoint, "certificate-authority-data": encoded(ca_crt)}
    credentials = {"client-certificate-data": encoded(client.crt), "client-key-data": encoded(client.key)}
    return dump(
        [
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": cluster_name, "cluster": cluster}],
                "users": [{"name": user, "user": credentials}],
                "contexts": [
                    {"name": user, "context": {"cluster": cluster_name, "namespace": "default", "user": user}}
                ],
                "current-context": user,
            }
        ]
    )
