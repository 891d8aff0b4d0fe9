"""The names, functions and types that Talos's CEL expressions can use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Type: TypeAlias = str
"""`bool`, `int`, `uint`, `double`, `string`, `bytes`, `dyn`, `list:T`, `map:K:V`, or the name of a message."""

_NUMBERS = ("int", "uint", "double")
_ORDERED = (*_NUMBERS, "string", "bytes", "bool", "duration", "timestamp")
_UNITS = dict.fromkeys(["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "kB", "MB", "GB", "TB", "PB", "EB"], "uint")
_CLASSES = dict.fromkeys(["Besteffort", "Burstable", "Guaranteed", "Podruntime", "System"], "int")


def _message(**types: str) -> dict[str, Type]:
    return {name: kind for kind, names in types.items() for name in names.split()}


_MESSAGES: dict[str, Mapping[str, Type]] = {
    "disk": _message(
        uint="size io_size sector_size",
        bool="readonly rotational cdrom",
        string="model serial modalias wwid bus_path sub_system transport dev_path pretty_size uuid",
    )
    | {"secondary_disks": "list:string", "symlinks": "list:string"},
    "volume": _message(
        uint="size sector_size io_size block_size filesystem_block_size probed_size partition_index offset",
        string="name uuid label partition_uuid partition_type partition_label type device_path parent dev_path "
        "parent_dev_path pretty_size",
    ),
    "link": _message(
        uint="index link_index flags mtu master_index",
        int="speed_megabits type operational_state port duplex",
        bytes="hardware_addr broadcast_addr permanent_addr",
        bool="link_state",
        string="queue_disc kind slave_kind bus_path pciid driver driver_version firmware_version product_id vendor_id "
        "product vendor alias",
        dyn="vlan bridge_master bond_master wireguard vrf_master",
    )
    | {"alt_names": "list:string"},
}


@dataclass(frozen=True)
class Context:
    """What an expression may use, and the type it must give."""

    names: Mapping[str, Type]
    result: Type = "bool"
    functions: Mapping[str, tuple[tuple[Type, ...], Type]] = field(default_factory=dict)


_GLOB: dict[str, tuple[tuple[Type, ...], Type]] = {"glob": (("string", "string"), "bool")}
_PRESSURE = [f"memory_{kind}_{span}" for kind in ("some", "full") for span in ("avg10", "avg60", "avg300", "total")]
_USAGE = ["memory_current", "memory_peak", "memory_max"]

DISK = Context({"disk": "disk", "system_disk": "bool", **_UNITS}, functions=_GLOB)
VOLUME = Context({"volume": "volume", "disk": "disk", **_UNITS})
LINK = Context({"link": "link"}, functions=_GLOB | {"mac": (("bytes",), "string")})
OOM_TRIGGER = Context(
    {name: "double" for base in _PRESSURE for name in (base, f"d_{base}")}
    | {name: "map:int:double" for base in (*_PRESSURE, *_USAGE) for name in (f"qos_{base}", f"d_qos_{base}")}
    | {"time_since_trigger": "duration", **_UNITS, **_CLASSES},
    functions={"multiply_qos_vectors": (("dyn", "dyn"), "double")},
)
OOM_RANKING = Context(
    dict.fromkeys(_USAGE, "dyn") | {"path": "string", "class": "int", **_UNITS, **_CLASSES}, result="double"
)

_CONVERSIONS: dict[str, Type] = {
    name: name for name in ("int", "uint", "double", "string", "bytes", "bool", "duration", "timestamp", "dyn")
} | {"type": "dyn"}
_TEXT_METHODS = ("startsWith", "endsWith", "contains", "matches")
_OTHER_METHODS: dict[str, Type] = {
    "all": "bool",
    "exists": "bool",
    "exists_one": "bool",
    "map": "list:dyn",
    "filter": "list:dyn",
    "hasValue": "bool",
}
_DYNAMIC_METHODS = frozenset(("orValue", "value", "or", "optMap", "optFlatMap"))
_TIME_METHODS = frozenset(
    [
        "getDate",
        "getDayOfMonth",
        "getDayOfWeek",
        "getDayOfYear",
        "getFullYear",
        "getHours",
        "getMilliseconds",
        "getMinutes",
        "getMonth",
        "getSeconds",
    ]
)


def binary(sign: str, left: Type, right: Type) -> Type:
    """Return the type of an operation; raise ValueError where it is not defined for these types."""
    alike = left == right or "dyn" in (left, right)
    if sign in ("||", "&&"):
        good = all(side in ("bool", "dyn") for side in (left, right))
        result = "bool"
    elif sign in ("==", "!="):
        good = alike or "null" in (left, right) or (left.startswith("list:") and right.startswith("list:"))
        result = "bool"
    elif sign in ("<", "<=", ">", ">="):
        good, result = alike and left in (*_ORDERED, "dyn"), "bool"
    elif sign == "in":
        item = right.split(":")[1] if right.startswith(("list:", "map:")) else right
        good, result = right == "dyn" or (item != right and ("dyn" in (item, left) or item == left)), "bool"
    else:
        known = {"+": (*_ORDERED, "dyn"), "%": ("int", "uint", "dyn")}.get(sign, (*_NUMBERS, "dyn"))
        good = alike and (left in known or (sign == "+" and left.startswith("list:")))
        result = right if left == "dyn" else left
    if not good:
        raise ValueError(f"{left} {sign} {right} is not defined")
    return result


def member(target: Type, name: str) -> Type:
    """Return the type of a field; raise ValueError where there is none."""
    if target in _MESSAGES:
        if name not in _MESSAGES[target]:
            raise ValueError(f"{target} has no {name}")
        return _MESSAGES[target][name]
    if target == "dyn" or target.startswith("map:"):
        return "dyn"
    raise ValueError(f"{target} has no {name}")


def index(target: Type) -> Type:
    """Return the type of an item in brackets; raise ValueError where there are none."""
    if target.startswith(("list:", "map:")):
        return target.rpartition(":")[2]
    if target != "dyn":
        raise ValueError(f"{target} has no items")
    return "dyn"


def method(target: Type, name: str, arguments: list[Type]) -> Type:
    """Return the type of a method's result; raise ValueError where there is none."""
    if name in _TEXT_METHODS and target in ("string", "dyn"):
        if len(arguments) != 1 or arguments[0] not in ("string", "dyn"):
            raise ValueError(f"{name} takes one string")
        return "bool"
    if name == "size" and not arguments and target not in ("bool", *_NUMBERS):
        return "int"
    if name in _OTHER_METHODS and (target == "dyn" or target.startswith(("list:", "map:"))):
        return _OTHER_METHODS[name]
    if name in _DYNAMIC_METHODS and target == "dyn":
        return "dyn"
    if name in _TIME_METHODS and target in ("duration", "timestamp", "dyn"):
        return "int"
    raise ValueError(f"{target} has no function {name}")


def call(context: Context, name: str, arguments: list[Type]) -> Type:
    """Return the type of a function's result; raise ValueError where there is none."""
    if name in context.functions:
        wanted, result = context.functions[name]
        if len(arguments) != len(wanted) or any(
            argument not in (kind, "dyn") and kind != "dyn" for argument, kind in zip(arguments, wanted, strict=True)
        ):
            raise ValueError(f"{name} takes {', '.join(wanted)}, not {', '.join(arguments) or 'nothing'}")
        return result
    if name == "has" and len(arguments) == 1:
        return "bool"
    if name == "size" and len(arguments) == 1 and arguments[0] not in ("bool", *_NUMBERS):
        return "int"
    if name == "matches" and arguments == ["string", "string"]:
        return "bool"
    if name in _CONVERSIONS and len(arguments) == 1:
        return _CONVERSIONS[name]
    raise ValueError(f"there is no function {name}")
