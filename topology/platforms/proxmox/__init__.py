"""Proxmox VE: its settings, its node and its rules."""

from topology.platforms.base import PlatformKind
from topology.platforms.proxmox import rules
from topology.platforms.proxmox.node import ProxmoxNode
from topology.platforms.proxmox.settings import ProxmoxSettings
from topology.rules.rule import Rule

PLATFORM = PlatformKind(
    kind="proxmox",
    settings=ProxmoxSettings,
    node=ProxmoxNode,
    mode="metal",
    rules=(
        Rule(rules.architecture_is_amd64),
        Rule(rules.addresses_have_a_gateway, reads=(("network", "gateway"),)),
        Rule(rules.shared_datastores_are_used, reads=(("platform", "imageDatastore"), ("platform", "datastore"))),
        Rule(rules.vm_ids_are_unique),
        Rule(rules.control_planes_have_what_talos_needs),
        Rule(rules.mappings_are_declared, reads=(("platform", "pciMappings", "*"),)),
        Rule(rules.pci_slots_are_unique),
    ),
    secrets=("proxmoxApiToken",),
    claims=rules.vm_ids,
    one_interface=True,
)
