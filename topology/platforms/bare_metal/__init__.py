"""Bare metal: its settings, its node and its rules."""

from topology.platforms.bare_metal import rules
from topology.platforms.bare_metal.node import BareMetalNode
from topology.platforms.bare_metal.settings import BareMetalSettings
from topology.platforms.base import PlatformKind
from topology.rules.rule import Rule

PLATFORM = PlatformKind(
    kind="bare-metal",
    settings=BareMetalSettings,
    node=BareMetalNode,
    mode="metal",
    rules=(
        Rule(rules.vip_has_an_interface, reads=(("network", "interface"), ("network", "vip"), ("platform", "link"))),
        Rule(rules.link_names_the_interface, reads=(("platform", "link"), ("nodes", "*", "link"))),
        Rule(rules.disks_are_told_apart),
        Rule(rules.volumes_have_a_disk_on_every_worker, reads=(("platform", "volumes"), ("nodes", "*", "disks"))),
    ),
)
