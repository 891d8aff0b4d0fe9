"""Volumes that take a whole disk: none that Talos is on, none of another volume, and one that is surely meant."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from findings import Finding
from machineconfig.checks.configuration import Final
from machineconfig.checks.selectors import SYSTEM_DISK, Disk, fits, holds, meant, mentions, names_one
from topology import Disk as Declared

_KINDS = ("UserVolumeConfig", "RawVolumeConfig", "SwapVolumeConfig", "VolumeConfig")
_MATCH = ("provisioning", "diskSelector", "match")
_CURE = "match by wwid or serial, as talosctl get disks shows them"
_GIB = 1024**3
_WRITABLE: Disk = {"readonly": False, "cdrom": False}
_OF_TYPE: dict[str | None, Disk] = {
    "hdd": {"rotational": True},
    "ssd": {"rotational": False},
    "nvme": {"transport": "nvme", "rotational": False},
    "sd": {"transport": "mmc"},
}


@dataclass(frozen=True)
class _Volume:
    """A volume and how it selects its disk."""

    title: str
    match: str
    whole: bool

    @property
    def name(self) -> str:
        return self.title.partition("/")[2]


@dataclass(frozen=True)
class _Node:
    """The volumes of a node, and what is known of its disks."""

    final: Final

    @cached_property
    def volumes(self) -> tuple[_Volume, ...]:
        """Those that say which disk."""
        whole = {title for title, _, kind in self.final.all_at("volumeType", kinds=_KINDS) if kind == "disk"}
        found = self.final.all_at(*_MATCH, kinds=_KINDS)
        return tuple(_Volume(title, match, title in whole) for title, _, match in found if match)

    @cached_property
    def system(self) -> Disk:
        node = self.final.node
        known = _attributes(node.selected_disk) if node.selected_disk else {}
        size = {"size": node.system_disk_size * _GIB} if node.system_disk_size else {}
        path = self.final.find("machine", "install", "disk") or ""
        name = {} if known or not path.startswith("/dev/") else {"dev_path": path}
        return {**_WRITABLE, **known, **name, **size, SYSTEM_DISK: True}

    @cached_property
    def others(self) -> tuple[Disk, ...]:
        return tuple({**_WRITABLE, **_attributes(disk), SYSTEM_DISK: False} for disk in self.final.node.other_disks)

    def rivals(self, volume: _Volume) -> Iterator[_Volume]:
        """The other volumes that surely take the same disk; of two that take it whole, the later one has a rival."""
        before = self.volumes[: self.volumes.index(volume)]
        disks = (*self.others, {**_WRITABLE, **meant(volume.match), SYSTEM_DISK: False})
        for other in self.volumes:
            same = other.match.split() == volume.match.split()
            if (not other.whole or other in before) and (
                same or any(fits(volume.match, disk) and fits(other.match, disk) for disk in disks)
            ):
                yield other


def takes_disks_that_are_free(final: Final) -> Iterator[Finding]:
    """A whole-disk volume selects a disk that neither Talos nor another volume uses; every selector can match."""
    node = _Node(final)
    for volume in node.volumes:
        for message, cure in _wrong(node, volume):
            yield final.finding(message, cure, title=volume.title, path=_MATCH)


def names_the_disk_it_takes(final: Final) -> Iterator[Finding]:
    """A whole-disk volume selects its disk by something unique: otherwise it may be Talos's own, or one of several."""
    node = _Node(final)
    for volume in node.volumes:
        if volume.whole and not names_one(volume.match) and not any(_wrong(node, volume)):
            others = (
                "which Talos refuses" if holds(volume.match, node.system) is False else "or the one that Talos is on"
            )
            message = f"the volume {volume.name} takes a whole disk, and its match may fit more than one, {others}"
            yield final.finding(message, _CURE, title=volume.title, path=_MATCH)


def _wrong(node: _Node, volume: _Volume) -> Iterator[tuple[str, str]]:
    """What is surely wrong with a selector, and the cure."""
    if volume.whole and mentions(volume.match, SYSTEM_DISK):
        yield f"the match of {volume.name} has {SYSTEM_DISK}, which is not known where a whole disk is matched", _CURE
    elif all(holds(volume.match, {**_WRITABLE, SYSTEM_DISK: system}) is False for system in (True, False)):
        yield f"the match of {volume.name} fits no disk that can be written", _CURE
    elif volume.whole and fits(volume.match, node.system):
        yield f"the match of {volume.name}, which takes a whole disk, fits the disk that Talos is on", _CURE
    elif volume.whole:
        for rival in node.rivals(volume):
            place = node.final.place_of(_MATCH, rival.title)
            message = f"the match of {volume.name}, which takes a whole disk, fits the disk of {rival.name} ({place})"
            yield message, _CURE


def _attributes(disk: Declared) -> Disk:
    """What is known of a disk by the names of selectors; a pattern is not what the disk has."""
    keys = ("serial", "wwid", "uuid", "bus_path", "model")
    given = {key: value for key in keys if (value := getattr(disk, key)) and not set(value) & set("*?[")}
    links = {"symlinks": (disk.path,)} if disk.path else {}
    return {**given, **links, **_OF_TYPE.get(disk.type, {})}
