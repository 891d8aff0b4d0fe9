"""``Secrets``: a cluster's secrets, kept in the state alone."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path

from lab.standin.resource import ProviderError, Resource, get
from lab.standin.schema import Failure
from lab.standin.talos import bundle, package
from lab.standin.values import UNKNOWN, Properties, Value
from machinery import ConfigError, contract_of, generate_secrets, read_secrets_yaml
from machinery.secrets import to_properties

_IDENTITY = "machine_secrets"
_DEFAULT_VERSION = "v1.13"
_MONTH = timedelta(days=30)  # before its end a client certificate is renewed
_COMPUTED = ("clientConfiguration", "machineSecrets")


class MachineSecrets(Resource):
    """The bundle of a cluster. An older ``talosVersion`` replaces it, a newer one leaves the secrets alone."""

    schema = package.MACHINE_SECRETS

    def check(self, name: str, inputs: Properties) -> list[Failure]:
        """Refuse what is no version, with the provider's own words."""
        version = inputs.get("talosVersion")
        if version in (None, UNKNOWN):
            return []
        try:
            contract_of(version)
        except ConfigError as error:
            shown = "v" + version.removeprefix("v")
            raise ProviderError(f'Invalid version: error parsing version "{shown}"') from error
        return []

    async def plan(self, state: Properties | None, inputs: Properties) -> Properties:
        """Any change makes the computed parts unknown to the plan, as the provider does, though they stay."""
        version = inputs.get("talosVersion")
        if state is None:
            return {"talosVersion": version or _DEFAULT_VERSION, **dict.fromkeys(_COMPUTED, UNKNOWN)}
        if version is not None and version != state.get("talosVersion"):
            return {"talosVersion": version, **dict.fromkeys(_COMPUTED, UNKNOWN)}
        kept = {name: state.get(name) for name in ("talosVersion", *_COMPUTED)}
        return {**kept, "clientConfiguration": UNKNOWN} if _ends_soon(state) else kept

    def replacements(self, state: Properties, planned: Properties, changed: list[str]) -> list[str]:
        """Replace for an older version only."""
        before, after = state.get("talosVersion"), planned["talosVersion"]
        if before is None or after is UNKNOWN or _order(after) >= _order(before):
            return []
        return ["talosVersion"]

    async def create(self, planned: Properties, inputs: Properties) -> tuple[str, Properties]:
        """Make fresh secrets; an RSA key of 4096 bits takes its time, so it is made beside the other calls."""
        made = await asyncio.to_thread(generate_secrets, planned["talosVersion"])
        return _IDENTITY, _state(made, planned["talosVersion"])

    async def adopt(self, identity: str) -> tuple[str, Properties]:
        """Import the secrets.yaml whose path is given as id; it counts as v1.3, or v1.2 with an AES-CBC secret."""
        try:
            made = read_secrets_yaml(await asyncio.to_thread(Path(identity).read_text))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise ProviderError(f"failed to import state: {identity}: {reason}") from error
        except ConfigError as error:
            raise ProviderError(f"failed to unmarshal machine secrets: {identity}: {error}") from error
        return _IDENTITY, _state(made, "v1.2" if made.aescbc_encryption_secret else "v1.3")

    async def update(self, identity: str, state: Properties, planned: Properties, inputs: Properties) -> Properties:
        """Keep the secrets; renew the client certificate when it ends soon."""
        kept = {**state, "talosVersion": planned["talosVersion"]}
        if _ends_soon(state):
            kept["clientConfiguration"] = bundle.client_configuration(bundle.from_properties(state["machineSecrets"]))
        return kept


def _state(made: "bundle.Bundle", version: str) -> Properties:
    return {
        "clientConfiguration": bundle.client_configuration(made),
        "machineSecrets": to_properties(made),
        "talosVersion": version,
    }


def _ends_soon(state: Properties) -> bool:
    certificate = get(state, "clientConfiguration", "clientCertificate")
    return certificate is not None and bundle.expires_within(certificate, "client certificate", _MONTH)


def _order(version: Value) -> tuple[int, ...]:
    numbers = [int(part) for part in re.findall(r"\d+", version)[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))
