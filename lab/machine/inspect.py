"""Calls that only look at a machine: version, host name, services, disks, memory, a few files."""

import time
from collections.abc import AsyncIterator, Mapping

from grpclib import GRPCError, Status

from lab.machine.dispatch import Call, Implementation
from lab.machine.hardware import Disk
from lab.machine.services import services
from talosapi.gen import machine_pb2, storage_pb2
from talosapi.gen.common_pb2 import Data

_PATH = "/machine.MachineService"
_CHUNK = 32 * 1024  # bytes


async def version(call: Call) -> machine_pb2.VersionResponse:
    """What runs; ``features`` only once there is a configuration."""
    machine = call.session.machine
    info = machine_pb2.VersionInfo(
        tag=machine.version, sha="lab", built="", go_version="none: simulated", os="linux", arch="amd64"
    )
    platform = machine_pb2.PlatformInfo(
        name=machine.hardware.platform, mode="metal" if machine.hardware.platform == "metal" else "cloud"
    )
    message = machine_pb2.Version(version=info, platform=platform)
    if call.session.configured:
        message.features.rbac = True
    return machine_pb2.VersionResponse(messages=[message])


async def hostname(call: Call) -> machine_pb2.HostnameResponse:
    """The host name."""
    return machine_pb2.HostnameResponse(messages=[machine_pb2.Hostname(hostname=call.session.hostname)])


async def memory(call: Call) -> machine_pb2.MemoryResponse:
    """The memory of the hardware, in KiB."""
    total = call.session.machine.hardware.memory * 1024
    info = machine_pb2.MemInfo(memtotal=total, memfree=total // 2, memavailable=total // 2)
    return machine_pb2.MemoryResponse(messages=[machine_pb2.Memory(meminfo=info)])


async def service_list(call: Call) -> machine_pb2.ServiceListResponse:
    """Every service with its health."""
    found = [service.message_of(call.session.started) for service in services(call.session)]
    return machine_pb2.ServiceListResponse(messages=[machine_pb2.ServiceList(services=found)])


async def disks(call: Call) -> storage_pb2.DisksResponse:
    """The disks of the hardware."""
    machine = call.session.machine
    found = [_disk(disk, machine.disk.installed and index == 0) for index, disk in enumerate(machine.hardware.disks)]
    return storage_pb2.DisksResponse(messages=[storage_pb2.Disks(disks=found)])


async def read(call: Call) -> AsyncIterator[Data]:
    """The few files that tools ask for; anything else is not there."""
    session = call.session
    booted = time.time() + session.machine.fault_value("clock-skew", "seconds") - session.uptime
    files = {
        "/proc/sys/kernel/random/boot_id": f"{session.boot_id}\n",
        "/proc/uptime": f"{session.uptime:.2f} 0.00\n",
        "/proc/stat": f"cpu 0 0 0 0\nbtime {booted:.0f}\n",
    }
    database = session.machine.directory / "etcd/member/snap/db"
    if call.request.path == "/var/lib/etcd/member/snap/db" and database.exists():
        content = database.read_bytes()
        for start in range(0, len(content), _CHUNK):
            yield Data(bytes=content[start : start + _CHUNK])
        return
    if call.request.path not in files:
        raise GRPCError(Status.UNKNOWN, f"stat {call.request.path}: no such file or directory")
    yield Data(bytes=files[call.request.path].encode())


def _disk(disk: Disk, system: bool) -> storage_pb2.Disk:
    kinds = storage_pb2.Disk.DiskType
    kind = disk.type.upper() if disk.type in ("ssd", "hdd", "nvme", "sd", "cd") else "UNKNOWN"
    return storage_pb2.Disk(
        size=disk.size,
        model=disk.model,
        device_name=disk.name,
        name=disk.name.rpartition("/")[2],
        serial=disk.serial,
        wwid=disk.wwid,
        type=kinds.Value(kind),
        bus_path=disk.bus_path,
        system_disk=system,
        subsystem="/sys/class/block",
    )


INSPECT: Mapping[str, Implementation] = {
    f"{_PATH}/Version": version,
    f"{_PATH}/Hostname": hostname,
    f"{_PATH}/Memory": memory,
    f"{_PATH}/ServiceList": service_list,
    f"{_PATH}/Read": read,
    "/storage.StorageService/Disks": disks,
}
