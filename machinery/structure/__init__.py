"""The structure of a machine configuration for Talos 1.10 to 1.13: which keys, which types, in which release.

The tables stand in the modules beside this one, in the notation that `notation` explains.
"""

from machinery.scalars import NAMES
from machinery.structure import cluster, links, machine, machine_features, machine_network, network, system, volumes
from machinery.structure.notation import (
    Anything,
    Field,
    ListOf,
    MapOf,
    Release,
    Scalar,
    Struct,
    Type,
    read_tables,
)

STRUCTS = read_tables(
    [module.TABLE for module in (machine, machine_features, machine_network, cluster, volumes, links, network, system)],
    NAMES,
)
V1ALPHA1 = STRUCTS["V1Alpha1"]
DOCUMENTS = {name: struct for name, struct in STRUCTS.items() if struct.document}

_LINKS = ("BondConfig", "BridgeConfig", "DummyLinkConfig", "LinkConfig", "VLANConfig", "VRFConfig", "WireguardConfig")
# Kinds of which two documents of the same name exclude each other.
CONFLICTS: dict[str, tuple[str, ...]] = {kind: tuple(other for other in _LINKS if other != kind) for kind in _LINKS} | {
    "Layer2VIPConfig": ("HCloudVIPConfig",),
    "HCloudVIPConfig": ("Layer2VIPConfig",),
    "UserVolumeConfig": ("ExistingVolumeConfig",),
    "ExistingVolumeConfig": ("UserVolumeConfig",),
}


def is_named(kind: str) -> bool:
    """Tell whether documents of a kind are told apart by their name."""
    struct = DOCUMENTS.get(kind)
    return struct is not None and any(field.name == "name" for field in struct.fields)
