"""Who may call what on the machine API, as Talos has it."""

from collections.abc import Iterable, Mapping

ADMIN, OPERATOR, READER = "os:admin", "os:operator", "os:reader"
ETCD_BACKUP, IMPERSONATOR = "os:etcd:backup", "os:impersonator"
ROLE_METADATA = "talos-role"
KNOWN = frozenset({ADMIN, OPERATOR, READER, ETCD_BACKUP, IMPERSONATOR})

_READ = frozenset({ADMIN, OPERATOR, READER})
_OPERATE = frozenset({ADMIN, OPERATOR})
_ADMINISTER = frozenset({ADMIN})

_MACHINE: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("Version", "Hostname", "Memory", "ServiceList", "Events"), _READ),
    **dict.fromkeys(("EtcdMemberList", "EtcdStatus"), _READ | {ETCD_BACKUP}),
    **dict.fromkeys(("Reboot", "Shutdown"), _OPERATE),
    **dict.fromkeys(("ImagePull", "EtcdAlarmList", "EtcdAlarmDisarm", "EtcdDefragment"), _OPERATE),
    "EtcdSnapshot": _OPERATE | {ETCD_BACKUP},
    "ApplyConfiguration": frozenset({ADMIN, READER}),  # readers in maintenance mode only: the call itself looks
}

_RULES: Mapping[str, frozenset[str]] = {
    **{f"/machine.MachineService/{name}": roles for name, roles in _MACHINE.items()},
    "/machine.ImageService/Pull": _OPERATE,
    "/machine.ImageService/List": _READ,
    "/storage.StorageService/Disks": _READ,
    "/cluster.ClusterService/HealthCheck": _READ,
    **dict.fromkeys(("/cosi.resource.State/Get", "/cosi.resource.State/List", "/cosi.resource.State/Watch"), _READ),
}


def may_call(method: str, roles: Iterable[str]) -> bool:
    """Whether one of ``roles`` may call ``method`` (its full path); what has no rule is for administrators."""
    return bool(_RULES.get(method, _ADMINISTER) & set(roles))
