"""A local volume: a disk of every worker that pods may use through the kubelet."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from topology.disk import Disk
from topology.model import Model, refuse
from topology.values import Name, matching, typed

_LONGEST = 34
_SIZE = r"[1-9][0-9]*(MB|GB|TB|MiB|GiB|TiB)"


def _fits_a_label(name: str) -> str:
    if len(name) > _LONGEST:
        cure = f"use at most {_LONGEST} characters"
        refuse("is too long: the name of a volume becomes the label of a partition", cure)
    return name


VolumeName = Annotated[Name, AfterValidator(_fits_a_label)]
Size = Annotated[str, *typed(matching(_SIZE, "a size", "write a whole number and a unit, such as 100GiB"), "", _SIZE)]


class Volume(Model):
    """A filesystem on a disk of its own, mounted at /var/mnt/<name>. Talos formats the disk when it is empty."""

    disk: Name = Field(examples=["local"])
    """The name of the disk in each worker's disks."""
    min_size: Size = Field(examples=["100GiB"])
    """What it must have at least; it grows over the whole disk."""
    filesystem: Literal["xfs", "ext4"] = "xfs"
    """The filesystem."""


@dataclass(frozen=True)
class LocalVolume:
    """A volume on the disk of one node."""

    name: str
    volume: Volume
    disk: Disk

    @property
    def mount_point(self) -> str:
        """Where Talos mounts it."""
        return f"/var/mnt/{self.name}"
