"""The few resources of a machine that tools read: its configuration, type, state, and the members of its cluster."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lab.machine import status, wire
from lab.machine.kubernetes_resources import KUBERNETES
from lab.machine.resource import Item, Kind
from lab.machine.service_resources import SERVICES
from lab.schematic import extensions_in
from talosapi.gen import resources_pb2 as specs

if TYPE_CHECKING:
    from lab.machine.session import Session

_KINDS = {"controlplane": specs.CONTROL_PLANE, "worker": specs.WORKER}


def _machine_config(session: "Session") -> Iterator[Item]:
    if session.configured and session.text is not None:
        proto = specs.MachineConfigSpec(yaml_marshalled=session.text.encode()).SerializeToString()
        yield Item("v1alpha1", proto, json.dumps(session.text))
    if (stored := session.machine.disk.configuration) is not None:
        proto = specs.MachineConfigSpec(yaml_marshalled=stored.encode()).SerializeToString()
        yield Item("persistent", proto, json.dumps(stored))


def _machine_type(session: "Session") -> Iterator[Item]:
    if session.configured:
        spec = specs.MachineTypeSpec(machine_type=_KINDS[session.settings.role])
        yield Item("machine-type", spec.SerializeToString(), session.settings.role)


def _machine_status(session: "Session") -> Iterator[Item]:
    stage = specs.MachineStage.Value(f"MACHINE_STAGE_{session.stage.upper()}")
    missing = status.unmet(session)
    told = specs.MachineStatusSpec.Status(ready=not missing)
    for name, reason in missing:
        told.unmet_conditions.add(name=name, reason=reason)
    spec = specs.MachineStatusSpec(stage=stage, status=told)
    shown = {
        "stage": session.stage,
        "status": {
            "ready": told.ready,
            "unmetConditions": [{"name": name, "reason": reason} for name, reason in missing],
        },
    }
    yield Item("machine", spec.SerializeToString(), json.dumps(shown))


def _time_status(session: "Session") -> Iterator[Item]:
    synced = not session.machine.fault("clock-skew")
    spec = specs.TimeStatusSpec(synced=synced)
    yield Item("node", spec.SerializeToString(), json.dumps({"synced": synced, "epoch": 0, "syncDisabled": False}))


def _members(session: "Session") -> Iterator[Item]:
    world = session.machine.world
    for peer in world.peers(session.settings) if session.configured else ():
        if peer.session:
            world.discovery.hear(peer.session)
    for known in world.discovery.members(session.settings.cluster_key) if session.configured else ():
        spec = specs.MemberSpec(
            node_id=known.uuid,
            addresses=[specs.NetIP(ip=known.address.packed)],
            hostname=known.hostname,
            machine_type=_KINDS[known.role],
            operating_system=f"Talos ({known.version})",
        )
        shown: dict[str, object] = {
            "nodeId": known.uuid,
            "addresses": [str(known.address)],
            "hostname": known.hostname,
            "machineType": known.role,
            "operatingSystem": spec.operating_system,
        }
        if known.role == "controlplane":
            spec.control_plane.api_server_port = 6443
            shown["controlPlane"] = {"port": 6443}
        yield Item(known.hostname, spec.SerializeToString(), json.dumps(shown))


def _disks(session: "Session") -> Iterator[Item]:
    for disk in session.machine.hardware.disks:
        pretty = f"{disk.size / 10**9:.0f} GB"
        proto = wire.message(
            *((1, disk.size), (2, 512), (3, 512), (5, disk.model), (6, disk.serial), (8, disk.wwid)),
            *((9, disk.bus_path), (11, disk.type), (12, disk.type == "hdd"), (14, disk.name), (15, pretty)),
        )
        shown = {
            "dev_path": disk.name,
            "size": disk.size,
            "pretty_size": pretty,
            "readonly": False,
            "model": disk.model,
            "serial": disk.serial,
            "wwid": disk.wwid,
            "bus_path": disk.bus_path,
            "transport": disk.type,
        }
        yield Item(disk.name.rpartition("/")[2], proto, json.dumps(shown))


def _extensions(session: "Session") -> Iterator[Item]:
    """The layers of the image that runs; the schematic is one of them, in name only."""
    entry = session.entry
    if not entry.schematic:
        return
    text = session.machine.world.registry.schematics.get(entry.schematic, "")
    for number, name in enumerate(extensions_in(text)):
        short = name.rpartition("/")[2]
        yield _extension(number, short, entry.version, f"{short}.sqsh", "")
    yield _extension(900, "schematic", entry.schematic, "schematic", text)


def _extension(number: int, name: str, version: str, image: str, extra: str) -> Item:
    metadata = wire.message((1, name), (2, version), (3, "Image Factory" if extra else ""), (6, extra))
    proto = wire.message((1, f"{number:03d}.{image}"), (2, metadata))
    shown = {"image": f"{number:03d}.{image}", "metadata": {"name": name, "version": version, "extraInfo": extra}}
    return Item(str(number), proto, json.dumps(shown))


def _booted_entry(session: "Session") -> Iterator[Item]:
    if label := session.entry.label:
        yield Item("bootedentry", wire.message((1, f"{label}.efi")), json.dumps({"bootedEntry": f"{label}.efi"}))


def _boot_id(session: "Session") -> Iterator[Item]:
    yield Item("boot-id", wire.message((1, session.boot_id)), json.dumps({"bootID": session.boot_id}))


KINDS: tuple[Kind, ...] = (
    Kind("MachineConfigs.config.talos.dev", "config", ("mc",), _machine_config, sensitive=True),
    Kind("MachineTypes.config.talos.dev", "config", ("mt",), _machine_type),
    Kind("MachineStatuses.runtime.talos.dev", "runtime", ("ms",), _machine_status),
    Kind("ExtensionStatuses.runtime.talos.dev", "runtime", ("extensions",), _extensions),
    Kind("BootedEntries.talos.dev", "runtime", (), _booted_entry),
    Kind("BootIDs.runtime.talos.dev", "runtime", (), _boot_id, since=14),
    Kind("TimeStatuses.v1alpha1.talos.dev", "runtime", (), _time_status),
    Kind("Disks.block.talos.dev", "runtime", (), _disks),
    Kind("Members.cluster.talos.dev", "cluster", ("member",), _members),
    *SERVICES,
    *KUBERNETES,
)
