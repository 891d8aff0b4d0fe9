"""What machines answer, as values."""

from dataclasses import dataclass
from enum import Enum

from talosapi.gen import machine_pb2


class ApplyMode(Enum):
    """When a configuration takes effect; the values are the API's."""

    REBOOT = machine_pb2.ApplyConfigurationRequest.REBOOT
    AUTO = machine_pb2.ApplyConfigurationRequest.AUTO
    NO_REBOOT = machine_pb2.ApplyConfigurationRequest.NO_REBOOT
    STAGED = machine_pb2.ApplyConfigurationRequest.STAGED
    TRY = machine_pb2.ApplyConfigurationRequest.TRY


class RebootMode(Enum):
    """How a machine goes down."""

    DEFAULT = machine_pb2.RebootRequest.DEFAULT
    POWERCYCLE = machine_pb2.RebootRequest.POWERCYCLE
    FORCE = machine_pb2.RebootRequest.FORCE


class WipeMode(Enum):
    """What a reset erases."""

    ALL = machine_pb2.ResetRequest.ALL
    SYSTEM_DISK = machine_pb2.ResetRequest.SYSTEM_DISK
    USER_DISKS = machine_pb2.ResetRequest.USER_DISKS


class Stage(Enum):
    """Where in its life a machine is; the values are those of Talos's MachineStatus resource."""

    UNKNOWN = 0
    BOOTING = 1
    INSTALLING = 2
    MAINTENANCE = 3
    RUNNING = 4
    REBOOTING = 5
    SHUTTING_DOWN = 6
    RESETTING = 7
    UPGRADING = 8


@dataclass(frozen=True)
class Version:
    """The Talos that runs. ``tag`` is like v1.13.9, ``platform`` like metal."""

    tag: str
    arch: str
    platform: str
    mode: str
    rbac: bool


@dataclass(frozen=True)
class Applied:
    """What a machine did with a configuration; in a dry run, what it would do."""

    mode: ApplyMode
    details: str
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Installed:
    """How an installer ended: its exit code, None where it did not say one, and its last lines."""

    exit_code: int | None
    said: tuple[str, ...]


@dataclass(frozen=True)
class Service:
    """A service of Talos, such as etcd. ``healthy`` is None where nothing is known of it."""

    id: str
    state: str
    healthy: bool | None
    message: str

    @property
    def up(self) -> bool:
        """Tell whether it runs and says that it is healthy."""
        return self.state == "Running" and self.healthy is True


@dataclass(frozen=True)
class EtcdMember:
    """A member as the member list has it. A learner does not vote."""

    id: int
    hostname: str
    peer_urls: tuple[str, ...]
    client_urls: tuple[str, ...]
    is_learner: bool


@dataclass(frozen=True)
class EtcdStatus:
    """A member's own view of itself. ``leader`` is a member id, 0 when it knows of none; sizes are in bytes."""

    member_id: int
    leader: int
    raft_index: int
    raft_term: int
    raft_applied_index: int
    db_size: int
    is_learner: bool
    errors: tuple[str, ...]
    storage_version: str


@dataclass(frozen=True)
class Disk:
    """A disk of the machine; ``size`` in bytes."""

    device_name: str
    size: int
    model: str
    serial: str
    wwid: str
    bus_path: str
    system_disk: bool
    readonly: bool


@dataclass(frozen=True)
class MachineStatus:
    """The stage a machine is in, and what is missing for it to be ready: pairs of condition and reason."""

    stage: Stage
    ready: bool
    unmet: tuple[tuple[str, str], ...]
