"""How a disk is told from every other one: by where it is or what it is, never by the order of finding."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, GetJsonSchemaHandler, field_validator, model_validator
from pydantic_core import CoreSchema

from topology.model import Model, refuse
from topology.values import Text

_IDENTIFYING = ("bus_path", "serial", "wwid", "uuid", "path")
_CURE = "add busPath, serial or wwid, as talosctl get disks shows them"
_BY_HARDWARE = "write its busPath, serial or wwid, or its link in /dev/disk/by-id"


class Disk(Model):
    """One disk. At least one key must identify it alone; model and type only narrow the choice."""

    bus_path: Text | None = None
    """Where it is plugged in, such as /pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/."""
    serial: Text | None = None
    """Its serial number."""
    wwid: Text | None = None
    """Its world-wide id, such as naa.5002538e40f1a2b3."""
    uuid: Text | None = None
    """Its UUID."""
    path: Text | None = None
    """Its link in /dev/disk/by-id or /dev/disk/by-path."""
    model: Text | None = None
    """Its model."""
    type: Literal["hdd", "ssd", "nvme", "sd"] | None = None
    """Its type."""

    @field_validator("path")
    @classmethod
    def _path_is_stable(cls, path: str | None) -> str | None:
        return path if path is None else _stable(path)

    @model_validator(mode="after")
    def _selects_one(self) -> Self:
        given = {key: value for key in _IDENTIFYING if (value := getattr(self, key)) is not None}
        if not given:
            refuse("can select more than one disk, and Talos erases the one it takes", _CURE, hidden=True)
        for key, value in given.items():
            if re.search(r"[*?\[]", value):
                refuse(
                    f"has a pattern in {'busPath' if key == 'bus_path' else key}, which can select more than one disk",
                    "write it whole",
                    hidden=True,
                )
        return self

    @property
    def identity(self) -> str:
        """The first of its keys that identifies it."""
        return next(str(value) for key in _IDENTIFYING if (value := getattr(self, key)) is not None)


def same_disk(one: Disk, other: Disk) -> bool:
    """Whether both surely select the same disk."""
    return any(getattr(one, key) is not None and getattr(one, key) == getattr(other, key) for key in _IDENTIFYING)


def _stable(path: str) -> str:
    if re.match(r"/dev/disk/by-(id|path)/.", path):
        return path
    if path.startswith("/dev/"):
        refuse("is a name that another disk can have after a reboot", _BY_HARDWARE)
    return refuse("is not a path of a disk", _BY_HARDWARE)


def _from_path(raw: object) -> object:
    return {"path": _stable(raw)} if isinstance(raw, str) else raw


class _PathOrSelector:
    """Lets the JSON schema say that a path alone is enough."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [{"type": "string", "minLength": 1}, handler(core)]}


DiskValue = Annotated[Disk, BeforeValidator(_from_path), _PathOrSelector()]
