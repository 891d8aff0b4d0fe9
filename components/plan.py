"""Everything that can be known and said before the first resource: the stack's config, read, checked and rendered."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pulumi

from components.edits import Edits
from components.machine_secrets import IN_MEMORY
from components.nodes import PLATFORMS
from components.own_address import locked_out
from findings import Finding
from machineconfig import PlanError, make_plan, plan
from machineconfig.checks import check_all
from machineconfig.model import withheld
from machineconfig.placeholder import filled
from machineconfig.secrets_file import SecretsFile, secrets_file
from topology import Node
from topology.platforms import PLATFORMS as KINDS

PROJECT = Path(__file__).resolve().parent.parent
PATCHES = PROJECT / "patches"


@dataclass(frozen=True)
class Plan(plan.Plan):
    """A plan of this stack. Holds no secret: placeholders stand for them."""

    config: pulumi.Config
    """The stack's config, for the secrets that the patches ask for."""

    secrets_file: SecretsFile | None
    """The file that the machine secrets are imported from; a relative path starts at the checkout."""

    def patch_texts(self, node: Node) -> pulumi.Input[Sequence[str]]:
        """Return the node's patches as the provider takes them; one secret in any makes all of them a secret."""
        patches = self.patches[node.name]
        keys = sorted(frozenset().union(*(patch.secrets for patch in patches)))
        if not keys:
            return [patch.text for patch in patches]

        def texts(values: dict[str, str]) -> list[str]:
            whole = [filled(patch, values) for patch in patches]
            # The provider would quote the value, in part.
            if found := check_all(self.topology, {node.name: whole}, complete=False).found:
                raise _refused(found)
            return [patch.text for patch in whole]

        secrets = {key: self.config.require_secret(key) for key in keys}
        return pulumi.Output.secret(pulumi.Output.all(**secrets).apply(texts))


def prepare(config: pulumi.Config) -> Plan:
    """Load, check and render; raise one ``pulumi.RunError`` with every fault there is, a line each."""
    made, faults = _made(config)
    imported = secrets_file(made.topology, PROJECT) if made else None
    if imported:
        faults += [*map(str, imported.faults), *_not_convertible(imported)]
    if made is not None:
        faults += _missing_secrets(config, made)
        faults += contradictions(PLATFORMS[made.topology.platform.kind]().environment(made.topology), os.environ)
    if made is None or faults:
        raise pulumi.RunError(_report(faults))
    for warning in (*made.warnings, *(imported.warnings if imported else ()), *locked_out(made.topology)):
        pulumi.log.warn(str(warning))
    return Plan(made.topology, made.schematics, made.patches, config, imported)


def accept(edits: Edits) -> None:
    """Raise one ``pulumi.RunError`` with every edit that a living cluster cannot take; warn of what it will not do."""
    if faults := edits.refused:
        raise pulumi.RunError(_report(map(str, faults)))
    for warning in edits.warnings:
        pulumi.log.warn(str(warning))
    for note in edits.notes:
        pulumi.log.info(note)


def contradictions(expected: Mapping[str, str | None], environment: Mapping[str, str]) -> list[str]:
    """Return a fault for each variable that sends the provider elsewhere than the stack says, without its value."""
    return [
        f"the environment variable {name} contradicts the stack file; unset it, the stack file alone says where to go"
        for name, value in expected.items()
        if environment.get(name, "") not in ("", value)
    ]


def _made(config: pulumi.Config) -> tuple[plan.Plan | None, list[str]]:
    """Return the plan, as far as one can be made, and what is wrong with it."""
    if pulumi.runtime.is_config_secret(config.full_key("cluster")):
        raise pulumi.RunError(
            "cluster: holds an encrypted value, so all of it would be a secret; set the value as a config key of its"
            ' own (`pulumi config set --secret`) and ask for it in a patch with secret("key")'
        )
    try:
        return make_plan(config.get_object("cluster"), patches=PATCHES), []
    except PlanError as error:
        return error.plan, list(error.lines)


def _missing_secrets(config: pulumi.Config, made: plan.Plan) -> list[str]:
    kind = made.topology.platform.kind
    wanted = {**made.secrets, **dict.fromkeys(KINDS[kind].secrets, f"platform {kind}")}
    return [
        f"{config.full_key(key)}: {user} needs this secret; set it with"
        f" `pulumi config set --secret {key} --stack {pulumi.get_stack()}`"
        for key, user in sorted(wanted.items())
        if config.get_secret(key) is None
    ]


def _not_convertible(file: SecretsFile) -> list[str]:
    if not file.converted or IN_MEMORY:
        return []
    return [
        f"secrets.importFrom: {file.path.name} has keys or certificates in a form that Talos does not read; the program"
        " converts them on Linux: run the first `pulumi up` there"
    ]


def _refused(found: Iterable[Finding]) -> pulumi.RunError:
    """Say where it fails with real secrets and did not without, not why: that could hold their values."""
    message = (
        "fails with the real value of a secret it asks for (the reason could contain the value, so it is not shown)"
    )
    places = (withheld(each, message) for each in found if not each.place.is_in_a_stack_file)
    return pulumi.RunError("\n".join(dict.fromkeys(map(str, places))))


def _report(faults: Iterable[str]) -> str:
    lines = tuple(dict.fromkeys(faults))
    noun = "fault" if len(lines) == 1 else "faults"
    return "\n".join([f"{len(lines)} {noun}; nothing was changed", *(f"  {line}" for line in lines)])
