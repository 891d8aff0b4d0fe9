"""``ConfigurationApply``: gives a machine its configuration."""

import asyncio
import hashlib

from lab.standin.resource import ProviderError, Resource, get, warn
from lab.standin.schema import Failure
from lab.standin.talos import bundle, connect, package
from lab.standin.talos.clients import check_clients
from lab.standin.values import UNKNOWN, Properties, Value, has_unknown
from machinery import ConfigError, parse_configuration, read_patches
from machinery.contract import PROVIDER
from machinery.documents import write_documents
from machinery.patches import apply_patches
from talosapi import Client, Credentials, TalosError
from talosapi.results import ApplyMode

_IDENTITY = "machine_configuration_apply"
_MODES = ("auto", "reboot", "no_reboot", "staged", "staged_if_needing_reboot")
_ON_DESTROY: Properties = {"reset": False, "graceful": True, "reboot": False}
_TIMEOUTS = {"create", "update", "delete"}
"""The plugin cannot write its state where some of these are given, and not all."""
_RELEASE = ".".join(str(part) for part in PROVIDER)


class ConfigurationApply(Resource):
    """The configuration of one machine: patches are merged here, the machine checks and keeps the result.

    Refresh does not look at the machine, and a changed ``node`` is an update.
    """

    schema = package.CONFIGURATION_APPLY

    def check(self, name: str, inputs: Properties) -> list[Failure]:
        """Refuse as the provider does: one configuration, one identity, a known mode."""
        given = [key for key in ("machineConfigurationInput", "machineConfigurationInputWo") if key in inputs]
        both = "machine_configuration_input or machine_configuration_input_wo"
        if not given:
            raise ProviderError(f"Missing machine configuration input: Exactly one of {both} must be set")
        if len(given) > 1:
            raise ProviderError(f"Conflicting machine configuration input: Only one of {both} can be set, not both")
        check_clients(inputs)
        mode = inputs.get("applyMode")
        if mode in (None, UNKNOWN, *_MODES):
            return []
        allowed = " ".join(f'"{known}"' for known in _MODES)
        told = f'Attribute apply_mode value must be one of: [{allowed}], got: "{mode}"'
        return [Failure("", f"Invalid Attribute Value Match. {told}. Examine values at '{name}.applyMode'.")]

    async def plan(self, state: Properties | None, inputs: Properties) -> Properties:
        """Merge the patches; write-only values do not reach the state."""
        planned = {name: value for name, value in inputs.items() if not name.endswith("Wo")}
        planned.setdefault("applyMode", "auto")
        planned.setdefault("endpoint", inputs["node"])
        if isinstance(planned.get("onDestroy"), dict):
            planned["onDestroy"] = {**_ON_DESTROY, **planned["onDestroy"]}
        if has_unknown([planned["node"], planned["endpoint"], _text(inputs), inputs.get("configPatches")]):
            unknown = ("machineConfiguration", "machineConfigurationHash", "resolvedApplyMode")
            return {**planned, **dict.fromkeys(unknown, UNKNOWN)}
        merged = _merged(inputs)
        planned["machineConfigurationHash"] = hashlib.sha256(merged.encode()).hexdigest()
        if "machineConfigurationInput" in inputs:
            planned["machineConfiguration"] = merged
        planned["resolvedApplyMode"] = await _resolved(state, planned, inputs, merged)
        return planned

    async def create(self, planned: Properties, inputs: Properties) -> tuple[str, Properties]:
        """Apply for the first time."""
        await _apply(planned, inputs, "create")
        if (given := inputs.get("timeouts")) and set(given) != _TIMEOUTS:
            raise ProviderError("recovered raw state does not byte-for-byte match the original raw state")
        return _IDENTITY, planned

    async def update(self, identity: str, state: Properties, planned: Properties, inputs: Properties) -> Properties:
        """Apply again."""
        await _apply(planned, inputs, "update")
        return planned

    async def delete(self, identity: str, state: Properties) -> None:
        """Leave the machine alone, or reset it where ``onDestroy`` says so."""
        if get(state, "onDestroy", "reset") is True:
            await _reset(state)


def _text(inputs: Properties) -> Value:
    return inputs.get("machineConfigurationInputWo", inputs.get("machineConfigurationInput"))


def _merged(inputs: Properties) -> str:
    text: str = _text(inputs)
    patches = [patch for patch in inputs.get("configPatches") or [] if patch is not None]
    if not patches:
        return text
    try:
        read = read_patches(patches)
    except ConfigError as error:
        raise ProviderError(f"Error loading config patches: {error}") from error
    try:
        documents = list(parse_configuration(text, _RELEASE).documents)
        return write_documents(apply_patches(documents, read, PROVIDER), PROVIDER)
    except ConfigError as error:
        raise ProviderError(f"Error applying config patches: {error}") from error


async def _resolved(state: Properties | None, planned: Properties, inputs: Properties, merged: str) -> str:
    """Return the mode to apply with; ``staged_if_needing_reboot`` asks the machine in a dry run, at preview too."""
    mode: str = planned["applyMode"]
    if mode != "staged_if_needing_reboot":
        return mode
    before = state or {}
    if before.get("machineConfiguration") == merged and before.get("resolvedApplyMode"):
        return str(before["resolvedApplyMode"])
    if has_unknown([inputs.get("clientConfiguration"), inputs.get("clientConfigurationWo")]):
        return "auto"
    node = planned["node"]
    try:
        applied = await connect.either_way(
            planned, bundle.credentials(inputs), lambda client: client.apply(merged, dry_run=True)
        )
    except (TalosError, ProviderError) as error:
        await warn(f"Cannot check reboot requirement: Node {node}: {error}. Using 'auto' mode (may reboot).")
        return "auto"
    if applied.mode is ApplyMode.NO_REBOOT:
        return "auto"
    await warn(
        f"Reboot prevented - using staged mode: Node {node}: Configuration requires reboot. Using 'staged' mode. "
        f"Manually reboot with: talosctl reboot --nodes {node}"
    )
    return "staged"


async def _apply(planned: Properties, inputs: Properties, operation: str) -> None:
    credentials = bundle.credentials(inputs)
    merged = planned.get("machineConfiguration") or _merged(inputs)
    mode = ApplyMode[planned["resolvedApplyMode"].upper()]
    await connect.persistently(
        lambda: connect.either_way(planned, credentials, lambda client: client.apply(merged, mode=mode)),
        connect.timeout_of(planned, operation),
        "Error applying configuration",
    )


async def _reset(state: Properties) -> None:
    """Wipe STATE and EPHEMERAL, and wait until the machine is down or back in maintenance mode."""
    credentials = bundle.credentials(state)
    seconds = connect.timeout_of(state, "delete")

    async def reset(client: Client) -> None:
        graceful, reboot = state["onDestroy"]["graceful"], state["onDestroy"]["reboot"]
        await client.reset(graceful=graceful, reboot=reboot, labels=("STATE", "EPHEMERAL"))

    try:
        async with asyncio.timeout(seconds):
            await connect.either_way(state, credentials, reset)
            while await _still_up(state, credentials):
                await asyncio.sleep(0.5)
    except TalosError as error:
        raise ProviderError(f"Error resetting machine: {error}") from error
    except TimeoutError:
        raise ProviderError(f"Error resetting machine: {state['node']} is still up after {seconds:g} s") from None


async def _still_up(state: Properties, credentials: Credentials) -> bool:
    try:
        await connect.as_administrator(state, credentials, Client.version)
    except TalosError:
        return False
    return True
