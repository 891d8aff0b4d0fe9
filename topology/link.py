"""The link that holds a machine's address where that is more than one port: a bond, a VLAN, or a VLAN on a bond."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from topology.model import Model, refuse
from topology.values import Interface, Whole, distinct, matching, typed

_ETHERNET = 1500
"""Bytes: the MTU of a link that names none."""


_PORT = matching(
    r"[^\s*?\[\]]+",
    "the bus path of a port",
    "write its bus path whole, as talosctl get links -o yaml shows it",
    wrong="does not select one port",
)
Port = Annotated[str, *typed(_PORT, "0000:18:00.0")]
Mtu = Annotated[Whole, Field(ge=1280, le=9216)]


class Bond(Model):
    """Several ports that act as one. They are selected by where they are plugged in, never by the kernel's names."""

    mode: Literal[
        "802.3ad", "active-backup", "balance-rr", "balance-xor", "broadcast", "balance-tlb", "balance-alb"
    ] = "802.3ad"
    """How they share the work; 802.3ad is LACP, which the switches must speak too."""
    members: Annotated[tuple[Port, ...], AfterValidator(distinct)] = Field(
        min_length=2, examples=[["0000:18:00.0", "0000:18:00.1"]]
    )
    """The ports by bus path."""
    xmit_hash_policy: Literal["layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4"] | None = None
    """What chooses the port of a connection; the kernel's default is layer2."""
    lacp_rate: Literal["slow", "fast"] | None = None
    """How often LACP speaks: every 30 seconds, or every second. In mode 802.3ad only."""
    miimon: Annotated[Whole, Field(ge=1)] = 100
    """Milliseconds between two looks at the ports; the kernel by itself would not look."""

    @model_validator(mode="after")
    def _has_lacp_with_802_3ad_only(self) -> Self:
        if self.lacp_rate is not None and self.mode != "802.3ad":
            cure = "leave lacpRate out, or write mode: 802.3ad"
            refuse(f"has lacpRate in mode {self.mode}, which does not use LACP", cure, hidden=True)
        return self


class Vlan(Model):
    """The tagged network that the machine's address is in."""

    id: Annotated[Whole, Field(ge=1, le=4094)] = Field(examples=[110])
    """Its number."""
    mtu: Mtu | None = None
    """The largest packet in bytes, where it is smaller than the link's."""


class Link(Model):
    """How a machine is connected."""

    name: Interface = Field(examples=["bond0"])
    """The name of the bond, or of the port where there is no bond."""
    bond: Bond | None = None
    """The ports it is made of."""
    vlan: Vlan | None = None
    """The VLAN that holds the machine's address; without one the link itself holds it."""
    mtu: Mtu | None = None
    """The largest packet in bytes; 1500 when left out."""

    @model_validator(mode="after")
    def _carries_its_vlan(self) -> Self:
        vlan, own = self.vlan, self.mtu or _ETHERNET
        if vlan is not None and vlan.mtu is not None and vlan.mtu > own:
            cure = f"give the link an mtu of {vlan.mtu}, or the VLAN one of {own} or less"
            refuse(f"has a VLAN with packets of {vlan.mtu} bytes on a link that takes {own}", cure, hidden=True)
        return self
