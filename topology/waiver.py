"""Findings that somebody has looked at and taken responsibility for."""

from pydantic import Field

from topology.model import Model
from topology.values import Name, Text


class Waiver(Model):
    """One check that may find something, on one node or on all. A waiver that waives nothing is a fault itself."""

    check: Text = Field(examples=["worker-taint"])
    """The id of the check, as it stands in brackets at the end of its findings."""
    node: Name | None = None
    """The node it is waived for; every node when left out."""
    reason: Text = Field(examples=["the cloud controller removes the taint"])
    """Why this is right here, for whoever reads it next year."""
