"""What a machine is for, and what Talos calls it: many roles, two machine types."""

from dataclasses import dataclass
from typing import Annotated, Literal

from findings import near
from topology.model import refuse
from topology.values import typed

MachineType = Literal["controlplane", "worker"]


@dataclass(frozen=True)
class Role:
    """``name`` is what a node's ``role`` says; ``many`` are machines of it, in words."""

    name: str
    machine_type: MachineType
    many: str


ROLES: dict[str, Role] = {
    role.name: role
    for role in (
        Role("controlplane", "controlplane", "control planes"),
        Role("worker", "worker", "workers"),
    )
}
"""A new one is a line here, and `patches/role/<name>/` for what only its machines get."""


def parse_role(raw: object) -> str:
    """Take the name of a role."""
    if not isinstance(raw, str) or raw not in ROLES:
        guess = near(raw, ROLES) if isinstance(raw, str) else ""
        refuse(f"is not one of {', '.join(ROLES)}", f"write one of them{guess}")
    return raw


RoleName = Annotated[str, *typed(parse_role, enum=list(ROLES))]
