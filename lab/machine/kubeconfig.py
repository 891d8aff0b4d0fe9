"""The Kubeconfig call: an administrator's kubeconfig, as a tar.gz with one file."""

import gzip
import io
import tarfile
from collections.abc import AsyncIterator
from datetime import timedelta

from lab.machine.dispatch import Call
from lab.machine.lifecycle import control_plane_only
from lab.machine.settings import Settings
from machinery import KeyPair, client_certificate, kubeconfig_of
from talosapi.gen.common_pb2 import Data

_LIFETIME = timedelta(days=365)


async def kubeconfig(call: Call) -> AsyncIterator[Data]:
    """Issue a client certificate and pack the file."""
    control_plane_only(call, "kubeconfig")
    text = admin_kubeconfig(call.session.settings).encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo("kubeconfig")
        entry.size, entry.mode = len(text), 0o600
        archive.addfile(entry, io.BytesIO(text))
    yield Data(bytes=gzip.compress(buffer.getvalue()))


def admin_kubeconfig(settings: Settings) -> str:
    """The kubeconfig of an administrator of the cluster."""
    authority = KeyPair(settings.kubernetes_ca.crt.decode(), settings.kubernetes_ca.key.decode())
    client = client_certificate(authority, "system:masters", "admin", _LIFETIME)
    return kubeconfig_of(settings.cluster_name, settings.endpoint_url, authority.crt, client)
