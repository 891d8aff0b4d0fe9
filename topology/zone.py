"""A zone: a place that can fail as a whole, and what its machines share."""

from pydantic import Field

from topology.model import Data
from topology.site import Site
from topology.values import Flag, Name, Network


class Zone(Site):
    """A site, a rack, an availability zone. Two zones or more are a claim: the cluster survives the loss of any one."""

    network: Network | None = None
    """The subnet of its nodes, where zones are routed: each has its own, inside network.nodes."""
    registry_mirrors_of: Name | None = None
    """The zone whose registry mirrors its nodes use, where it has none of its own."""
    storage: Flag = False
    """Whether it has a vote in the storage cluster's quorum, such as a Ceph monitor."""
    data: Data = Field(default_factory=dict)
    """Values of your own for the templates of the zone's nodes."""
