"""The scalars of a machine configuration: what each accepts, its zero value, and how it is written back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from machinery.readers import (
    read_address,
    read_address_port,
    read_argument,
    read_base64,
    read_bool,
    read_bytes,
    read_disk_condition,
    read_disk_size,
    read_duration,
    read_hardware_address,
    read_integer,
    read_mode,
    read_octal,
    read_old_bytes,
    read_old_size,
    read_port_range,
    read_prefix,
    read_size,
    read_string,
    read_url,
)
from machinery.yaml import ScalarNode, text_of


@dataclass(frozen=True)
class Kind:
    """One kind of scalar.

    `read` raises ValueError with what was wanted. With `always` a patch sets it even when it leaves it out; with
    `unmergeable` a second patch cannot change it. One read `as_text` cannot be an alias.
    """

    read: Callable[[ScalarNode], Any]
    zero: Any = ""
    written: Callable[[Any], Any] | None = None
    always: bool = False
    unmergeable: bool = False
    as_text: bool = True


def _words(words: str, zero: str = "") -> Kind:
    """Return the kind that takes one of some words; `zero` is the one that stands for an absent value."""
    known = {word.lower(): word for word in words.split()}

    def read(node: ScalarNode) -> str:
        found = known.get(text_of(node).lower())
        if found is None:
            raise ValueError("one of " + ", ".join(list(known.values())[:8]))
        return found

    return Kind(read, zero)


def _failover_mac(node: ScalarNode) -> str:
    """Old configurations say it with a number."""
    words = ("none", "active", "follow")
    text = text_of(node) or "none"
    if text.isdecimal() and int(text) < len(words):
        return words[int(text)]
    if text not in words:
        raise ValueError("one of " + ", ".join(words))
    return text


_TABLES = " ".join(("unspec", *map(str, range(1, 253)), "default", "main", "local"))

KINDS: dict[str, Kind] = {
    "string": Kind(read_string, as_text=False),
    "bool": Kind(read_bool, False, as_text=False),
    "int": Kind(read_integer(-(2**63), 2**63 - 1), 0, as_text=False),
    "uint": Kind(read_integer(0, 2**64 - 1), 0, as_text=False),
    **{f"uint{bits}": Kind(read_integer(0, 2**bits - 1), 0, as_text=False) for bits in (8, 16, 32, 64)},
    "duration": Kind(read_duration, as_text=False),
    "cel": Kind(read_string, always=True),
    "bytes": Kind(read_bytes, always=True),
    "size": Kind(read_size),
    "oldbytes": Kind(read_old_bytes, always=True),
    "oldsize": Kind(read_old_size),
    "disksize": Kind(read_disk_size, 0, as_text=False),
    "diskcondition": Kind(read_disk_condition, unmergeable=True, as_text=False),
    "filemode": Kind(read_mode, 0, read_octal, as_text=False),
    "base64": Kind(read_base64, as_text=False),
    "address": Kind(read_address, unmergeable=True),
    "prefix": Kind(read_prefix, unmergeable=True),
    "addressport": Kind(read_address_port, unmergeable=True),
    "mac": Kind(read_hardware_address, None),
    "ports": Kind(read_port_range, 0, as_text=False),
    "url": Kind(read_url, as_text=False),
    "arg": Kind(read_argument, as_text=False),
    "bondmode": _words("balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb balance-alb", "balance-rr"),
    "xmithash": _words("layer2 layer3+4 layer2+3 encap2+3 encap3+4", "layer2"),
    "lacprate": _words("slow fast", "slow"),
    "arpvalidate": _words("none active backup all filter filter-active filter-backup", "none"),
    "arptargets": _words("any all", "any"),
    "reselect": _words("always better failure", "always"),
    "failovermac": Kind(_failover_mac, "none"),
    "adselect": _words("stable bandwidth count", "stable"),
    "onoff": _words("off on", "off"),
    "autohostname": _words("off talos-addr stable", "off"),
    "clientid": _words("none mac duid", "none"),
    "action": _words("accept block", "accept"),
    "protocol": _words("icmp tcp udp icmpv6", "Protocol(0)"),
    "ruleaction": _words("unspec unicast blackhole unreachable prohibit", "unspec"),
    "routingtable": _words(_TABLES, "unspec"),
    "vlanprotocol": _words("802.1q 802.1ad"),
    "wol": _words("phy unicast multicast broadcast magic magicsecure filter"),
    "filesystem": _words("none xfs vfat ext4 iso9660 swapi virtiofs", "none"),
    "encryption": _words("none luks2", "none"),
    "oldvolumetype": _words("partition disk tmpfs directory symlink overlay", "partition"),
    "volumetype": _words("partition disk tmpfs directory symlink overlay external", "partition"),
}
NAMES = frozenset(KINDS)
