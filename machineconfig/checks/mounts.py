"""Bind mounts of kubelet and of the control plane's pods, beside the volumes that a machine has."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from findings import Finding
from machineconfig.checks.configuration import Final
from machineconfig.paths import Path

_MOUNTED = ("UserVolumeConfig", "ExistingVolumeConfig", "ExternalVolumeConfig")
_NOT_MOUNTED = ("RawVolumeConfig", "SwapVolumeConfig")
_AT = "/var/mnt"
_SYSTEM = (
    *(
        "/dev",
        "/etc/cni",
        "/etc/kubernetes",
        "/etc/os-release",
        "/lib/modules",
        "/opt/cni/bin",
        "/proc",
        "/run",
        "/sys",
    ),
    *("/var/lib/cni", "/var/lib/containerd", "/var/lib/etcd", "/var/lib/kubelet", "/var/log", "/var/run"),
)
"""What Talos itself mounts into kubelet, or keeps there."""


@dataclass(frozen=True)
class _Mount:
    """One mount: what is mounted where, and the places that say it."""

    source: str
    destination: str
    path: Path
    keys: tuple[str, str]


@dataclass(frozen=True)
class _Volumes:
    """The volumes of a machine, each with the title of its document."""

    final: Final

    @cached_property
    def mounted(self) -> Mapping[str, str]:
        """Those with a mount point of their own."""
        return self._of(_MOUNTED)

    @cached_property
    def raw(self) -> Mapping[str, str]:
        """Those that are mounted nowhere."""
        return self._of(_NOT_MOUNTED)

    @cached_property
    def partitions(self) -> tuple[str, ...]:
        """Where machine.disks mounts partitions."""
        places = self.final.all_at("machine", "disks", "*", "partitions", "*", "mountpoint")
        return tuple(posixpath.normpath(place) for _, _, place in places if place)

    def _of(self, kinds: tuple[str, ...]) -> Mapping[str, str]:
        return {each.name: each.title for kind in kinds for each in self.final.configuration.of_kind(kind)}

    def place(self, name: str) -> str:
        return self.final.place_of(("name",), {**self.mounted, **self.raw}[name])


def mounts_volumes_and_hides_none(final: Final) -> Iterator[Finding]:
    """A bind mount's source is the volume that it seems to mean, and it hides no volume and no path of Talos."""
    volumes, before = _Volumes(final), list[_Mount]()
    for mount in _mounts(final):
        for key, message, cure in (
            *_source(volumes, mount),
            *_destination(volumes, mount),
            *_hidden(final, mount, before),
        ):
            value = mount.source if key == mount.keys[0] else mount.destination
            yield final.finding(message, cure, path=(*mount.path, key), value=value)
        before.append(mount)


def _source(volumes: _Volumes, mount: _Mount) -> Iterator[tuple[str, str, str]]:
    """What a mount seems to mean and does not mount: the key, the message and the cure."""
    source, key = mount.source, mount.keys[0]
    if any(_is_in(source, place) for place in (*volumes.partitions, *_SYSTEM)) or not _is_in(source, "/var"):
        return
    names = source.removeprefix("/var/").split("/")
    name = names[1] if _is_in(source, _AT) and len(names) > 1 else ""
    named = next((each for each in names if each in volumes.mounted or each in volumes.raw), "")
    if name and name in volumes.mounted:
        return
    if named in volumes.raw:
        message = f"mounts {source}, and the volume {named} ({volumes.place(named)}) has no file system to mount"
        yield key, message, f"make {named} a UserVolumeConfig, or leave the mount out"
    elif named:
        right = f"{_AT}/{named}"
        message = (
            f"mounts {source}, which is on the system disk; the volume {named} ({volumes.place(named)}) is at {right}"
        )
        yield key, message, f"write {key}: {right}"
    elif name:
        message = f"mounts {source}, which is on the system disk: the machine has no volume {name}"
        yield key, message, f"add a UserVolumeConfig {name}, or take a path outside of {_AT}"


def _destination(volumes: _Volumes, mount: _Mount) -> Iterator[tuple[str, str, str]]:
    """What a mount hides from those who look at its destination."""
    if mount.source == mount.destination:
        return
    key, cure = mount.keys[1], "choose another place for it"
    for name in volumes.mounted:
        if _is_in(f"{_AT}/{name}", mount.destination):
            yield key, f"hides the volume {name} ({volumes.place(name)}) behind {mount.source}", cure
    for place in _SYSTEM:
        if _is_in(place, mount.destination):
            yield key, f"hides {place}, which Talos itself needs there, behind {mount.source}", cure
            return


def _hidden(final: Final, mount: _Mount, before: Sequence[_Mount]) -> Iterator[tuple[str, str, str]]:
    """The mounts of the same list that this one is put over: they are made in their order."""
    for other in before:
        inside = _is_in(other.destination, mount.destination) and other.destination != mount.destination
        if other.path[:-1] == mount.path[:-1] and inside and other.source != other.destination:
            place = final.place_of((*other.path, other.keys[1]))
            message = f"hides the mount at {other.destination} ({place}), which is made before it"
            yield mount.keys[1], message, "let the outer one come first, in a patch before the other"


def _mounts(final: Final) -> Iterator[_Mount]:
    places = (
        (("machine", "kubelet", "extraMounts"), ("source", "destination")),
        *(
            (("cluster", part, "extraVolumes"), ("hostPath", "mountPath"))
            for part in ("apiServer", "controllerManager", "scheduler")
        ),
    )
    for path, keys in places:
        for _, at, entry in final.all_at(*path, "*"):
            source, destination = (str(entry.get(key, "")) for key in keys)
            if source.startswith("/") and entry.get("type", "bind") in ("bind", ""):
                yield _Mount(posixpath.normpath(source), posixpath.normpath(destination), at, keys)
    # The paths of the machine that a static pod gets; where it mounts them hides nothing from others.
    for _, at, given in final.all_at("machine", "pods", "*", "spec", "volumes", "*", "hostPath", "path"):
        if str(given).startswith("/"):
            source = posixpath.normpath(str(given))
            yield _Mount(source, source, at[:-1], ("path", "path"))


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place.rstrip('/')}/")
