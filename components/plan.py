"""Everything that can be known and said before the first resource: the stack's config, read, checked and rendered."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pulumi

from components.nodes import PLATFORMS
from machineconfig import ConfigError, Facts, Patch, Schematic, check_patches, installer, render_node
from topology import Node, Topology, TopologyError, load

PROJECT = Path(__file__).resolve().parent.parent
PATCHES = PROJECT / "patches"


@dataclass(frozen=True)
class Plan:
    """A topology without faults and what follows from it. Holds no secret: rendered secrets are marks."""

    topology: Topology
    schematics: Mapping[str, Schematic]
    """By node name."""
    facts: Mapping[str, Facts]
    """By node name."""
    patches: Mapping[str, tuple[Patch, ...]]
    """By node name, in the order in which they apply."""
    config: pulumi.Config
    """The stack's config, for the secrets that the patches ask for."""

    @property
    def secrets_file(self) -> str | None:
        """The secrets.yaml to import; a relative path starts at the checkout, wherever the engine runs."""
        path = self.topology.secrets.import_from
        return str(PROJECT / path) if path else None

    def patch_texts(self, node: Node) -> pulumi.Input[Sequence[str]]:
        """Return the node's patches as the provider takes them; one secret in any makes all of them a secret."""
        patches = self.patches[node.name]
        keys = sorted(frozenset().union(*(patch.secrets for patch in patches)))
        if not keys:
            return [patch.text for patch in patches]

        def texts(values: dict[str, str]) -> list[str]:
            facts = self.facts[node.name]
            rendered = render_node(self.topology, node, facts, root=PATCHES, secret=values.__getitem__)
            return [patch.text for patch in rendered]

        secrets = {key: self.config.require_secret(key) for key in keys}
        return pulumi.Output.secret(pulumi.Output.all(**secrets).apply(texts))


def prepare(config: pulumi.Config) -> Plan:
    """Load, check and render; raise one ``pulumi.RunError`` with every fault there is, a line each."""
    topology = _topology(config)
    schematics = {node.name: Schematic.of(topology.image_of(node)) for node in topology.nodes}
    facts = {node.name: _facts(topology, node, schematics[node.name]) for node in topology.nodes}
    patches, faults = _rendered(topology, facts)
    faults += _missing_secrets(config, topology, patches)
    faults += contradictions(PLATFORMS[topology.platform.kind].environment(topology), os.environ)
    if faults:
        raise pulumi.RunError(_report(faults))
    for warning in topology.warnings:
        pulumi.log.warn(str(warning))
    return Plan(topology, schematics, facts, patches, config)


def contradictions(expected: Mapping[str, str | None], environment: Mapping[str, str]) -> list[str]:
    """Return a fault for each variable that sends the provider elsewhere than the stack says, without its value."""
    return [
        f"the environment variable {name} contradicts the stack file; unset it, the stack file alone says where to go"
        for name, value in expected.items()
        if environment.get(name, "") not in ("", value)
    ]


def _topology(config: pulumi.Config) -> Topology:
    if pulumi.runtime.is_config_secret(config.full_key("cluster")):
        raise pulumi.RunError(
            "cluster: holds an encrypted value, so all of it would be a secret; set the value as a config key of its"
            ' own (`pulumi config set --secret`) and ask for it in a patch with secret("key")'
        )
    try:
        return load(config.get_object("cluster"))
    except TopologyError as error:
        raise pulumi.RunError(_report([str(fault) for fault in error.faults])) from None


def _facts(topology: Topology, node: Node, schematic: Schematic) -> Facts:
    image = installer(
        topology.image_factory,
        topology.platform.image_platform,
        schematic.id,
        topology.versions.talos,
        secure_boot=topology.image_of(node).secure_boot,
    )
    return Facts(address=node.address, installer=image)


def _rendered(topology: Topology, facts: Mapping[str, Facts]) -> tuple[dict[str, tuple[Patch, ...]], list[str]]:
    """Render with marks for secrets, so that a preview without them still checks everything."""
    patches: dict[str, tuple[Patch, ...]] = {}
    faults: list[str] = []
    for node in topology.nodes:
        try:
            patches[node.name] = render_node(
                topology, node, facts[node.name], root=PATCHES, secret=lambda key: f"<secret {key}>"
            )
        except ConfigError as error:
            faults += map(str, error.findings)
    return patches, faults + [str(finding) for finding in check_patches(topology, patches)]


def _missing_secrets(config: pulumi.Config, topology: Topology, patches: Mapping[str, tuple[Patch, ...]]) -> list[str]:
    wanted = dict.fromkeys(PLATFORMS[topology.platform.kind].SECRETS, f"platform {topology.platform.kind}")
    for rendered in patches.values():
        for patch in rendered:
            wanted |= dict.fromkeys(patch.secrets, patch.source)
    return [
        f"{config.full_key(key)}: {user} needs this secret; set it with `pulumi config set --secret {key}`"
        for key, user in sorted(wanted.items())
        if config.get_secret(key) is None
    ]


def _report(faults: list[str]) -> str:
    noun = "fault" if len(faults) == 1 else "faults"
    return "\n".join([f"{len(faults)} {noun}; nothing was changed", *(f"  {fault}" for fault in dict.fromkeys(faults))])
