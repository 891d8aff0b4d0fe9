"""Proxmox VE: its settings, its node and its rules."""

from topology.platforms.base import PlatformKind
from topology.platforms.proxmox.node import ProxmoxNode
from topology.platforms.proxmox.rules import (
    addresses_have_a_gateway,
    architecture_is_amd64,
    control_planes_have_what_talos_needs,
    mappings_are_declared,
    pci_slots_are_unique,
    shared_datastores_are_used,
    vm_ids,
    vm_ids_are_unique,
)
from topology.platforms.proxmox.settings import ProxmoxSettings
from topology.rules.rule import Rule

PLATFORM = PlatformKind(
    kind="proxmox",
    settings=ProxmoxSettings,
    node=ProxmoxNode,
    mode="metal",
    rules=(
        Rule(architecture_is_amd64),
        Rule(addresses_have_a_gateway, reads=(("network", "gateway"),)),
        Rule(shared_datastores_are_used, reads=(("platform", "imageDatastore"), ("platform", "datastore"))),
        Rule(vm_ids_are_unique),
        Rule(control_planes_have_what_talos_needs),
        Rule(mappings_are_declared, reads=(("platform", "pciMappings", "*"),)),
        Rule(pci_slots_are_unique),
    ),
    secrets=("proxmoxApiToken",),
    claims=vm_ids,
    one_interface=True,
)
