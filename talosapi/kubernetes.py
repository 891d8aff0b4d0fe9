"""Whether the Kubernetes API of one control plane is ready, asked at the machine's own address."""

import asyncio
import base64
import http.client
import io
import ssl
from dataclasses import dataclass, field
from typing import Any

import yaml

from talosapi import tls
from talosapi.errors import CredentialsError

PORT = 6443
_LARGEST_ANSWER = 1 << 18  # bytes


class KubernetesError(Exception):
    """The API did not answer, or with something else; the text says what, without any secret."""


@dataclass(frozen=True)
class Readiness:
    """What /readyz said; ``failing`` are the names of the checks that do not pass."""

    ready: bool
    status: int
    failing: tuple[str, ...]


@dataclass(frozen=True)
class Identity:
    """The cluster's CA and a client certificate with its key out of a kubeconfig, as PEM."""

    ca: bytes = field(repr=False)
    crt: bytes = field(repr=False)
    key: bytes = field(repr=False)

    @classmethod
    def of(cls, kubeconfig: str) -> "Identity":
        """Read the identity of the current context; raises CredentialsError when there is none."""
        try:
            document = yaml.safe_load(kubeconfig)
            context = _named(document["contexts"], document["current-context"])["context"]
            cluster = _named(document["clusters"], context["cluster"])["cluster"]
            user = _named(document["users"], context["user"])["user"]
            return cls(
                ca=base64.b64decode(cluster["certificate-authority-data"], validate=True),
                crt=base64.b64decode(user["client-certificate-data"], validate=True),
                key=base64.b64decode(user["client-key-data"], validate=True),
            )
        except (yaml.YAMLError, LookupError, TypeError, ValueError):
            raise CredentialsError("the kubeconfig has no current context with a CA and a client certificate") from None

    def context(self) -> ssl.SSLContext:
        """Return a TLS context that trusts the cluster's CA alone; raises CredentialsError."""
        return tls.client_context(self.ca, self.crt, self.key, alpn=("http/1.1",))


async def readyz(address: str, context: ssl.SSLContext, *, port: int = PORT, timeout: float = 5.0) -> Readiness:
    """Ask ``https://<address>:<port>/readyz`` within ``timeout`` seconds; raises KubernetesError."""
    where = f"{address}:{port}"
    try:
        async with asyncio.timeout(timeout):
            answer = await _get(address, port, context, "/readyz?verbose")
    except TimeoutError:
        raise KubernetesError(f"no answer from {where} within {timeout:g} s") from None
    except ssl.SSLCertVerificationError as error:
        raise KubernetesError(f"the certificate of {where} is refused: {error.verify_message}") from None
    except ssl.SSLError as error:
        raise KubernetesError(f"TLS with {where} failed: {error.reason or 'handshake failed'}") from None
    except OSError as error:
        raise KubernetesError(f"no connection to {where}: {(error.strerror or type(error).__name__).lower()}") from None
    return _readiness(where, answer)


async def _get(address: str, port: int, context: ssl.SSLContext, path: str) -> bytes:
    reader, writer = await asyncio.open_connection(address, port, ssl=context)
    try:
        host = f"[{address}]" if ":" in address else address
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        received = b""
        while len(received) < _LARGEST_ANSWER and (chunk := await reader.read(_LARGEST_ANSWER)):
            received += chunk
        return received
    finally:
        writer.close()


def _readiness(where: str, answer: bytes) -> Readiness:
    try:
        response = http.client.HTTPResponse(_Received(answer), method="GET")  # type: ignore[arg-type]  # reads of it only
        response.begin()
        body = response.read().decode("utf-8", "replace")
    except (http.client.HTTPException, ValueError):
        raise KubernetesError(f"{where} answered with something that is not HTTP") from None
    lines = [line for line in body.splitlines() if line.startswith("[-]")]
    failing = tuple(line.removeprefix("[-]").split()[0] for line in lines if len(line.split()) > 0 and line != "[-]")
    return Readiness(ready=response.status == http.HTTPStatus.OK, status=response.status, failing=failing)


class _Received:
    """What http.client takes for a socket."""

    def __init__(self, received: bytes) -> None:
        self._received = received

    def makefile(self, *_: Any) -> io.BytesIO:
        return io.BytesIO(self._received)


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Return the entry of a kubeconfig's list; raises LookupError."""
    return next(iter([entry for entry in entries if entry["name"] == name]), None) or {}
