"""The provider's configuration: where Proxmox VE is and who is asking, with the refusals of the real provider."""

import hmac
import os
import re
import uuid
from dataclasses import dataclass
from urllib.parse import urlsplit

from lab.standin.proxmoxve.store import Store
from lab.standin.resource import ProviderError
from lab.standin.schema import Failure
from lab.standin.values import Properties, Value

_TOKEN = re.compile(r"(?P<user>\S+@\S+)!(?P<name>\S+)=(?P<secret>[a-zA-Z0-9-]+)")
_VARIABLES = {
    "endpoint": "PROXMOX_VE_ENDPOINT",
    "apiToken": "PROXMOX_VE_API_TOKEN",
    "username": "PROXMOX_VE_USERNAME",
    "password": "PROXMOX_VE_PASSWORD",
}
_NO_CREDENTIALS = "must provide either an API token, or a username and a password for the Proxmox VE API"


def with_environment(given: Properties) -> Properties:
    """Fill what is left out from the environment, as the real provider does."""
    filled = dict(given)
    for name, variable in _VARIABLES.items():
        if not filled.get(name) and os.environ.get(variable):
            filled[name] = os.environ[variable]
    return filled


def check_configuration(given: Properties) -> list[Failure]:
    """Return what the real provider refuses before it talks to anyone."""
    filled = with_environment(given)
    failures = _check_endpoint(filled.get("endpoint"))
    token = filled.get("apiToken")
    if token:
        if isinstance(token, str) and not _TOKEN.fullmatch(token):
            reason = "the API token must look like USER@REALM!NAME=UUID"
            failures.append(Failure("apiToken", reason))
    elif not (filled.get("username") and filled.get("password")):
        failures.append(Failure("apiToken", _NO_CREDENTIALS))
    return failures


def _check_endpoint(endpoint: Value) -> list[Failure]:
    if not isinstance(endpoint, str) and endpoint is not None:
        return []  # not known yet
    parts = urlsplit(endpoint or "")
    if not endpoint or not parts.hostname:
        reason = "you must specify the endpoint of the Proxmox VE API (valid: https://host:port/)"
    elif parts.scheme != "https":
        reason = "you must specify a secure endpoint of the Proxmox VE API (valid: https://host:port/)"
    else:
        return []
    return [Failure("endpoint", reason)]


@dataclass
class Session:
    """One configured provider. ``with_token``: Proxmox VE trusts tokens with less than the root account."""

    store: Store
    token: str | None = None
    user: str | None = None
    configured: bool = False

    @property
    def with_token(self) -> bool:
        """Tell whether calls are made with an API token."""
        return self.token is not None

    def configure(self, given: Properties) -> None:
        """Take the configuration; raises ``ProviderError`` for one that nothing can be done with."""
        failures = check_configuration(given)
        if failures:
            raise ProviderError("; ".join(failure.reason for failure in failures))
        filled = with_environment(given)
        self.token, self.user = filled.get("apiToken"), filled.get("username")
        self.configured = True

    def authorize(self) -> None:
        """Raise what the API answers to wrong credentials.

        A token is right when its secret is a UUID, and equal to ``LAB_PROXMOX_TOKEN`` where the lab sets that.
        """
        if not self.configured:
            raise ProviderError("the provider is not configured: its endpoint or credentials are unknown")
        if self.token is None:
            return
        found = _TOKEN.fullmatch(self.token)
        expected = os.environ.get("LAB_PROXMOX_TOKEN")
        wrong = expected is not None and not hmac.compare_digest(expected, self.token)
        if found is None or wrong or not _is_uuid(found["secret"]):
            raise ProviderError("received an HTTP 401 response - Reason: invalid API token value")


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
