"""One Kubernetes API server, spoken to as it is: JSON over HTTPS with a client certificate."""

import ssl
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import httpx

_LONGEST = 400  # characters of what an answer says


class KubernetesError(Exception):
    """A call that failed: what was asked of which server, the status (None where none came), and what was said."""

    def __init__(self, where: str, status: int | None, said: str) -> None:
        """Keep the parts, what was said on one short line."""
        self.status = status
        self.said = " ".join(said.split())[:_LONGEST]
        super().__init__(f"the Kubernetes API at {where}: {self.said}")


class Client:
    """An async context manager for calls to one API server; every method raises KubernetesError."""

    def __init__(self, url: str, context: ssl.SSLContext, *, timeout: float = 10.0) -> None:
        """Connect to nothing yet; ``context`` has the identity, ``timeout`` is each call's in seconds."""
        self._where = url
        # The environment's proxies are for other things than machines of the cluster.
        self._http = httpx.AsyncClient(base_url=url, verify=context, timeout=timeout, trust_env=False)

    async def __aenter__(self) -> Self:
        """Begin."""
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self._http.__aexit__(kind, error, trace)

    async def ready(self) -> bool:
        """Ask whether the server serves: /readyz."""
        try:
            await self._call("GET", "/readyz")
        except KubernetesError as error:
            if error.status is None:
                raise
            return False
        return True

    async def get(self, path: str, **query: str) -> dict[str, Any]:
        """Read an object or a list."""
        return _json(await self._call("GET", path, params=query), self._where)

    async def merge(self, path: str, patch: Mapping[str, Any]) -> dict[str, Any]:
        """Change an object by a merge patch; None in it takes a field away."""
        headers = {"content-type": "application/merge-patch+json"}
        return _json(await self._call("PATCH", path, json=patch, headers=headers), self._where)

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Create an object or a subresource."""
        return _json(await self._call("POST", path, json=body), self._where)

    async def _call(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            response = await self._http.request(method, path, **options)
        except httpx.TimeoutException:
            raise KubernetesError(self._where, None, f"no answer to {method} {path}") from None
        except (httpx.HTTPError, ssl.SSLError, OSError) as error:
            raise KubernetesError(self._where, None, str(error) or type(error).__name__) from None
        if response.is_success:
            return response
        raise KubernetesError(self._where, response.status_code, _message(response))


def _json(response: httpx.Response, where: str) -> dict[str, Any]:
    try:
        found = response.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise KubernetesError(where, response.status_code, "answered with something that is no object")
    return found


def _message(response: httpx.Response) -> str:
    """Return what a Status says; the status alone where the body is none."""
    try:
        return str(response.json()["message"])
    except (ValueError, KeyError, TypeError):
        return f"status {response.status_code} for {response.request.method} {response.request.url.path}"
