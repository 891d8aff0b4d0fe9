"""The scalars of a machine configuration: what each accepts, its zero value, and how it is written back."""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface
from typing import Any

from lab.talos.emit import Verbatim
from lab.talos.goform import bytes_of, duration, duration_text, go_url
from lab.talos.yaml import PLAIN, ScalarNode, plain


@dataclass(frozen=True)
class Kind:
    """One kind of scalar.

    `read` raises ValueError with what was wanted. With `always` a patch sets it even when it leaves it out; with
    `unmergeable` a second patch cannot change it.
    """

    read: Callable[[ScalarNode], Any]
    zero: Any = ""
    written: Callable[[Any], Any] | None = None
    always: bool = False
    unmergeable: bool = False


_TRUE = frozenset(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"))
_FALSE = frozenset(("n", "N", "no", "No", "NO", "off", "Off", "OFF"))


def _string(node: ScalarNode) -> str:
    return str(node.value)


def _bool(node: ScalarNode) -> bool:
    value = plain(node)
    if isinstance(value, bool):
        return value
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise ValueError("true or false")


def _integer(low: int, high: int) -> Callable[[ScalarNode], int]:
    def read(node: ScalarNode) -> int:
        value = plain(node)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return read


def _duration(node: ScalarNode) -> str:
    value = plain(node)
    if value == 0 and not isinstance(value, bool):
        return ""
    nanoseconds = duration(value) if isinstance(value, str) else None
    if nanoseconds is None:
        raise ValueError("a duration such as 30s or 1h15m")
    return duration_text(nanoseconds) if nanoseconds else ""


def _bytes(node: ScalarNode) -> str:
    text = str(node.value)
    if text:
        bytes_of(text.removeprefix("-"))
    return text


def _size(node: ScalarNode) -> str:
    text = str(node.value)
    if "%" not in text:
        return _bytes(node)
    if re.fullmatch(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)%", text) and float(text.strip("-%")) <= 100:
        return text
    raise ValueError("a size such as 50GiB, or a share such as 80%")


def _disk_size(node: ScalarNode) -> int | str:
    size = bytes_of(str(node.value))
    for unit, factor in (("EB", 10**18), ("PB", 10**15), ("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 1000)):
        if size >= factor:
            value = size / factor
            text = f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"
            return text if bytes_of(text) == size else size
    return size


def _disk_condition(node: ScalarNode) -> str:
    text = str(node.value).strip()
    bytes_of(re.sub(r"^(?:>=|<=|>|<|==)", "", text).strip())
    return text


def _mode(node: ScalarNode) -> int:
    return _integer(0, 2**32 - 1)(node)


def _base64(node: ScalarNode) -> str:
    text = re.sub(r"[\r\n]", "", str(node.value))
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)).decode()
    except (binascii.Error, ValueError):
        raise ValueError("base64") from None


def _address(node: ScalarNode) -> str:
    if not node.value:
        return ""
    try:
        return str(ip_address(node.value))
    except ValueError:
        raise ValueError("an IP address") from None


def _prefix(node: ScalarNode) -> str:
    text = str(node.value)
    if not text:
        return ""
    _, slash, bits = text.partition("/")
    if slash and re.fullmatch(r"0|[1-9][0-9]{0,2}", bits) and "%" not in text:
        try:
            return f"{ip_interface(text).ip}/{bits}"
        except ValueError:
            pass
    raise ValueError("an IP prefix such as 10.0.0.0/24")


def _address_port(node: ScalarNode) -> str:
    text = str(node.value)
    if not text:
        return ""
    host, _, port = text.rpartition(":")
    if port.isdecimal() and int(port) < 65536 and (host.startswith("[") == (":" in host)):
        try:
            address = ip_address(host.strip("[]"))
        except ValueError:
            pass
        else:
            return f"[{address}]:{int(port)}" if address.version == 6 else f"{address}:{int(port)}"
    raise ValueError("an IP address with a port")


def _hardware_address(node: ScalarNode) -> str:
    digits = str(node.value).replace(":", "").lower()
    if len(digits) % 2 or not re.fullmatch("[0-9a-f]*", digits):
        raise ValueError("a hardware address")
    return ":".join(digits[index : index + 2] for index in range(0, len(digits), 2))


def _port_range(node: ScalarNode) -> int | str:
    value = plain(node)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 65536:
        return value
    low, dash, high = str(node.value).partition("-")
    if dash and low.isdecimal() and high.isdecimal() and int(low) < 65536 and int(high) < 65536:
        return int(low) if int(low) == int(high) else f"{int(low)}-{int(high)}"
    raise ValueError("a port or a range such as 6443 or 8000-8999")


def _url(node: ScalarNode) -> str:
    return go_url(str(node.value)).text


def _octal(value: Any) -> Any:
    return Verbatim(f"0o{value:o}")


def _words(words: str, zero: str = "") -> Kind:
    """Return the kind that takes one of some words; `zero` is the one that stands for an absent value."""
    known = {word.lower(): word for word in words.split()}

    def read(node: ScalarNode) -> str:
        found = known.get(str(node.value).lower())
        if found is None:
            raise ValueError("one of " + ", ".join(list(known.values())[:8]))
        return found

    return Kind(read, zero)


def _failover_mac(node: ScalarNode) -> str:
    """Old configurations say it with a number."""
    words = ("none", "active", "follow")
    text = str(node.value) or "none"
    if text.isdecimal() and int(text) < len(words):
        return words[int(text)]
    if text not in words:
        raise ValueError("one of " + ", ".join(words))
    return text


_TABLES = " ".join(("unspec", *map(str, range(1, 253)), "default", "main", "local"))

KINDS: dict[str, Kind] = {
    "string": Kind(_string),
    "bool": Kind(_bool, False),
    "int": Kind(_integer(-(2**63), 2**63 - 1), 0),
    "uint": Kind(_integer(0, 2**64 - 1), 0),
    **{f"uint{bits}": Kind(_integer(0, 2**bits - 1), 0) for bits in (8, 16, 32, 64)},
    "duration": Kind(_duration),
    "cel": Kind(_string, always=True),
    "bytes": Kind(_bytes, always=True),
    "size": Kind(_size),
    "disksize": Kind(_disk_size, 0),
    "diskcondition": Kind(_disk_condition, unmergeable=True),
    "filemode": Kind(_mode, 0, _octal),
    "base64": Kind(_base64),
    "address": Kind(_address, unmergeable=True),
    "prefix": Kind(_prefix, unmergeable=True),
    "addressport": Kind(_address_port, unmergeable=True),
    "mac": Kind(_hardware_address, None),
    "ports": Kind(_port_range, 0),
    "url": Kind(_url),
    "arg": Kind(_string),
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
    "volumetype": _words("partition disk tmpfs directory symlink overlay external", "partition"),
}
NAMES = frozenset(KINDS)


def is_null(node: ScalarNode) -> bool:
    """Tell whether a scalar leaves its field unset."""
    return node.tag == PLAIN and plain_null(node.value)


def plain_null(text: str) -> bool:
    """Tell whether a plain scalar means null."""
    return text in ("", "~", "null", "Null", "NULL")
