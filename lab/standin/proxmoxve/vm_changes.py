"""Which changes of a virtual machine need another one, which need a reboot, and which it takes while it runs.

As in the provider: network devices, names, tags and the like are changed live, memory and CPU with a reboot, a disk
grows while the machine runs.
"""

from lab.standin.resource import ProviderError, get
from lab.standin.values import Properties, Value

_LIVE = frozenset(
    {"description", "onBoot", "tags", "name", "protection", "networkDevices", "smbios", "startup", "poolId"}
    | {"hookScriptFileId", "hotplug", "migrate", "nodeName", "macAddresses", "purgeOnDestroy", "stopOnDestroy"}
    | {"deleteUnreferencedDisksOnDestroy", "reboot", "rebootAfterUpdate", "started", "template", "ipv4Addresses"}
    | {"ipv6Addresses", "networkInterfaceNames", "timeoutClone", "timeoutCreate", "timeoutMigrate", "timeoutMoveDisk"}
    | {"timeoutReboot", "timeoutShutdownVm", "timeoutStartVm", "timeoutStopVm"}
)
#: Of a disk: what can differ without touching the running machine. An import happens at creation only.
_LIVE_DISK = frozenset({"size", "importFrom", "pathInDatastore"})
_CLOUD_INIT_FILES = ("vendorDataFileId", "userDataFileId", "networkDataFileId", "metaDataFileId", "type")


def replacements(state: Properties, planned: Properties, changed: list[str]) -> list[str]:
    """Return the changed properties that need another virtual machine."""
    found: set[str] = {"vmId", "clone", "amdSev"} & set(changed)
    if "nodeName" in changed and planned.get("migrate") is not True:
        found.add("nodeName")
    if any(_differ(state, planned, "initialization", name) for name in _CLOUD_INIT_FILES):
        found.add("initialization")
    if _both_differ(state, planned, "tpmState", "version"):
        found.add("tpmState")
    if _both_differ(state, planned, "efiDisk", "type"):
        found.add("efiDisk")
    before, after = _disks(state), _disks(planned)
    if any(before[name].get("fileId") != after[name].get("fileId") for name in before.keys() & after.keys()):
        found.add("disks")
    return [name for name in changed if name in found]


def needs_reboot(state: Properties, planned: Properties, changed: list[str]) -> list[str]:
    """Return the changed properties that a running machine takes only with a reboot."""
    found = [name for name in changed if name not in _LIVE and name != "disks"]
    if "disks" in changed and _disks_need_reboot(state, planned):
        found.append("disks")
    return sorted(found)


def refuse_impossible(state: Properties, planned: Properties) -> None:
    """Raise ``ProviderError`` for what Proxmox VE cannot do to an existing virtual machine."""
    if state.get("template") is True and planned.get("template") is not True:
        raise ProviderError("cannot convert a template back to a regular VM")
    before, after = _disks(state), _disks(planned)
    for interface in before.keys() & after.keys():
        old, new = before[interface].get("size", 8), after[interface].get("size", 8)
        if new < old:
            raise ProviderError(f"disk resize failed: {interface} cannot shrink from {old} to {new} GiB")


def _disks_need_reboot(state: Properties, planned: Properties) -> bool:
    before, after = _disks(state), _disks(planned)
    return before.keys() != after.keys() or any(_fixed(before[name]) != _fixed(after[name]) for name in before)


def _fixed(disk: Properties) -> Properties:
    return {key: value for key, value in disk.items() if key not in _LIVE_DISK}


def _disks(properties: Properties) -> dict[str, Properties]:
    return {str(disk.get("interface")): disk for disk in get(properties, "disks", default=[])}


def _differ(state: Properties, planned: Properties, *path: str) -> bool:
    return bool(get(state, *path) != get(planned, *path))


def _both_differ(state: Properties, planned: Properties, *path: str) -> bool:
    old: Value = get(state, *path)
    new: Value = get(planned, *path)
    return old is not None and new is not None and old != new
