"""What Talos lets CEL expressions use: variables, the fields of messages, and the functions of the language."""

from collections.abc import Mapping
from dataclasses import dataclass

# A structure of Talos's resources: each type with its fields.
MESSAGES = {
    "disk": {
        "uint": "size io_size sector_size",
        "bool": "readonly rotational cdrom",
        "string": "model serial modalias wwid bus_path sub_system transport dev_path pretty_size uuid",
        "list(string)": "secondary_disks symlinks",
    },
    "volume": {
        "uint": "size sector_size io_size block_size filesystem_block_size probed_size partition_index offset",
        "string": "name uuid label partition_uuid partition_type partition_label type device_path parent dev_path "
        "parent_dev_path pretty_size",
    },
    "link": {
        "uint": "index link_index flags mtu master_index",
        "int": "speed_megabits type operational_state port duplex",
        "bytes": "hardware_addr broadcast_addr permanent_addr",
        "bool": "link_state",
        "string": "queue_disc kind slave_kind bus_path pciid driver driver_version firmware_version product_id "
        "vendor_id product vendor alias",
        "list(string)": "alt_names",
        "vlan": "vlan",
        "bridge": "bridge_master",
        "bond": "bond_master",
        "wireguard": "wireguard",
        "vrf": "vrf_master",
    },
    "vlan": {"uint": "vid", "int": "protocol"},
    "vrf": {"int": "table"},
    "bridge": {"stp": "stp", "bridge_vlan": "vlan"},
    "stp": {"bool": "enabled"},
    "bridge_vlan": {"bool": "filtering_enabled"},
    "bond": {
        "int": "mode hash_policy lacp_rate arp_validate arp_all_targets primary_reselect fail_over_mac ad_select "
        "adlacp_active",
        "uint": "primary_index mii_mon up_delay down_delay arp_interval resend_igmp min_links lp_interval "
        "packets_per_slave num_peer_notif tlb_dynamic_lb all_slaves_active ad_actor_sys_prio ad_user_port_key "
        "peer_notify_delay missed_max",
        "bool": "use_carrier",
        "list(address)": "arpip_targets nsip6_targets",
    },
    "wireguard": {"string": "private_key public_key", "int": "listen_port firewall_mark", "list(peer)": "peers"},
    "peer": {
        "string": "public_key preshared_key endpoint",
        "duration": "persistent_keepalive_interval",
        "list(address)": "allowed_ips",
    },
    "address": {},
}

# Every overload of an operator or function; a function with a dot before it is called on its first argument.
FUNCTIONS = """
!: (bool) bool
-: (int) int, (double) double
&& ||: (bool, bool) bool
?: (bool, A, A) A
== !=: (A, A) bool
< <= > >=: (bool, bool) bool, (int, int) bool, (uint, uint) bool, (double, double) bool, (string, string) bool, \
(bytes, bytes) bool, (timestamp, timestamp) bool, (duration, duration) bool
in: (A, list(A)) bool, (A, map(A, B)) bool
+: (int, int) int, (uint, uint) uint, (double, double) double, (string, string) string, (bytes, bytes) bytes, \
(list(A), list(A)) list(A), (duration, duration) duration, (duration, timestamp) timestamp, \
(timestamp, duration) timestamp
--: (int, int) int, (uint, uint) uint, (double, double) double, (duration, duration) duration, \
(timestamp, timestamp) duration, (timestamp, duration) timestamp
* /: (int, int) int, (uint, uint) uint, (double, double) double
%: (int, int) int, (uint, uint) uint
[]: (list(A), int) A, (map(A, B), A) B
bool: (bool) bool, (string) bool
bytes: (bytes) bytes, (string) bytes
double: (double) double, (int) double, (uint) double, (string) double
duration: (duration) duration, (int) duration, (string) duration
dyn: (A) dyn
int: (int) int, (double) int, (duration) int, (string) int, (timestamp) int, (uint) int
string: (string) string, (bool) string, (bytes) string, (double) string, (duration) string, (int) string, \
(timestamp) string, (uint) string
timestamp: (timestamp) timestamp, (int) timestamp, (string) timestamp
type: (A) type(A)
uint: (uint) uint, (double) uint, (int) uint, (string) uint
size .size: (string) int, (bytes) int, (list(A)) int, (map(A, B)) int
matches .matches .contains .endsWith .startsWith: (string, string) bool
.getDate .getDayOfMonth .getDayOfWeek .getDayOfYear .getFullYear .getMonth: (timestamp) int, (timestamp, string) int
.getHours .getMilliseconds .getMinutes .getSeconds: (timestamp) int, (timestamp, string) int, (duration) int
"""
OPTIONAL = """
[?]: (list(A), int) optional(A), (map(A, B), A) optional(B), (optional(list(A)), int) optional(A), \
(optional(map(A, B)), A) optional(B)
[]: (optional(list(A)), int) optional(A), (optional(map(A, B)), A) optional(B)
optional.of optional.ofNonZeroValue: (A) optional(A)
optional.none: () optional(A)
.hasValue: (optional(A)) bool
.value: (optional(A)) A
.or: (optional(A), optional(A)) optional(A)
.orValue: (optional(A), A) A
optional.unwrap .unwrapOpt: (list(optional(A))) list(A)
.first .last: (list(A)) optional(A)
"""
_GLOB = "glob: (string, string) bool\n"
_UNITS = {"uint": "KiB MiB GiB TiB PiB EiB kB MB GB TB PB EB"}
_CLASSES = {"int": "Besteffort Burstable Guaranteed Podruntime System"}


@dataclass(frozen=True, eq=False)
class Context:
    """What an expression may use, and the type it must give; `optional` is whether `?` may stand before a key."""

    names: tuple[Mapping[str, str], ...]
    functions: str = FUNCTIONS
    result: str = "bool"
    optional: bool = False


_PRESSURE = [f"memory_{kind}_{span}" for kind in ("some", "full") for span in ("avg10", "avg60", "avg300", "total")]
_USAGE = ["memory_current", "memory_peak", "memory_max"]
DISK = Context(({"disk": "disk", "bool": "system_disk"}, _UNITS), FUNCTIONS + _GLOB)
VOLUME = Context(({"volume": "volume", "disk": "disk"}, _UNITS))
LINK = Context(({"link": "link"},), f"{FUNCTIONS}{_GLOB}mac: (bytes) string\n")
OOM_TRIGGER = Context(
    (
        {
            "double": " ".join(f"{base} d_{base}" for base in _PRESSURE),
            "map(int, double)": " ".join(f"qos_{base} d_qos_{base}" for base in (*_PRESSURE, *_USAGE)),
            "duration": "time_since_trigger",
        },
        _UNITS,
        _CLASSES,
    ),
    f"{FUNCTIONS}{OPTIONAL}multiply_qos_vectors: (map(dyn, double), map(dyn, double)) double\n",
    optional=True,
)
OOM_RANKING = Context(
    ({"optional(uint)": " ".join(_USAGE), "string": "path", "int": "class"}, _UNITS, _CLASSES),
    FUNCTIONS + OPTIONAL,
    "double",
    optional=True,
)
