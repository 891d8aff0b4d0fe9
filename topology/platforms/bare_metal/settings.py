"""Bare metal: what its machines share."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from topology.link import Link
from topology.node import Node, Platform
from topology.platforms.bare_metal.node import BareMetalNode
from topology.volume import LocalVolume, Volume, VolumeName


class BareMetalSettings(Platform):
    """Nothing to make and nothing to ask: the machines are there."""

    kind: Literal["bare-metal"]
    """Machines that already exist."""
    link: Link | None = None
    """How the machines are connected, where that is a bond or a VLAN. A node may differ."""
    volumes: dict[VolumeName, Volume] = Field(default_factory=dict)
    """Local volumes of the workers by name, each mounted at /var/mnt/<name> and given to the kubelet."""

    def link_of(self, node: Node) -> Link | None:
        """The node's own link, or the one of all machines."""
        return (node.link if isinstance(node, BareMetalNode) else None) or self.link

    def volumes_of(self, node: Node) -> Mapping[str, LocalVolume]:
        """The volumes of a worker; a control plane has none."""
        if node.is_controlplane or not isinstance(node, BareMetalNode):
            return {}
        return {name: LocalVolume(name, volume, node.disks[volume.disk]) for name, volume in self.volumes.items()}
