"""How each kind of scalar is read; every function raises ValueError with what was wanted."""

import base64
import binascii
import re
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_interface
from typing import Any

from machinery.emit import Verbatim
from machinery.goform import address_text, bytes_of, duration, duration_text
from machinery.urls import go_url
from machinery.yaml import ScalarNode, plain, text_of

_TRUE = frozenset(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"))
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_FALSE = frozenset(("n", "N", "no", "No", "NO", "off", "Off", "OFF"))


def read_string(node: ScalarNode) -> str:
    """Take any scalar as text."""
    return text_of(node)


def read_argument(node: ScalarNode) -> str:
    """Take any text that can be written again."""
    text = text_of(node)
    if not text.isprintable() and re.search(r"[\ud800-\udfff]", text):
        raise ValueError("text in UTF-8")
    return text


def read_bool(node: ScalarNode) -> bool:
    """Take true and false, and YAML 1.1's words for them."""
    value = plain(node)
    if isinstance(value, bool):
        return value
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise ValueError("true or false")


def read_integer(low: int, high: int) -> Callable[[ScalarNode], int]:
    """Return the reader of whole numbers in a range."""

    def read(node: ScalarNode) -> int:
        value = plain(node)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return read


def read_duration(node: ScalarNode) -> str:
    """Take a duration, written as Go writes it; nothing for none."""
    value = plain(node)
    if type(value) is int and value == 0:
        return ""
    nanoseconds = duration(value) if isinstance(value, str) else None
    if nanoseconds is None:
        raise ValueError("a duration such as 30s or 1h15m")
    return duration_text(nanoseconds) if nanoseconds else ""


def read_bytes(node: ScalarNode) -> str:
    """Take a size in bytes, perhaps negative."""
    text = text_of(node)
    if text:
        bytes_of(text.removeprefix("-"))
    return text


def read_old_bytes(node: ScalarNode) -> str:
    """Take a size in bytes, as before Talos 1.13."""
    text = text_of(node)
    if text:
        bytes_of(text)
    return text


def read_old_size(node: ScalarNode) -> str:
    """Take a size in bytes or a share in percent, as before Talos 1.13."""
    text = read_size(node)
    if text.startswith("-"):
        raise ValueError("a size such as 50GiB, or a share such as 80%")
    return text


def read_size(node: ScalarNode) -> str:
    """Take a size in bytes or a share in percent."""
    text = text_of(node)
    if "%" not in text:
        return read_bytes(node)
    number = text.removeprefix("-").removesuffix("%")
    if text.endswith("%") and _NUMBER.fullmatch(number) and 0 <= float(number) <= 100:
        return text
    raise ValueError("a size such as 50GiB, or a share such as 80%")


def read_disk_size(node: ScalarNode) -> int | str:
    """Take a size and return the form Talos writes: `100 GB`, or bytes where that would round."""
    size = bytes_of(text_of(node))
    for unit, factor in (("EB", 10**18), ("PB", 10**15), ("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 1000)):
        if size >= factor:
            value = size / factor
            text = f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"
            return text if bytes_of(text) == size else size
    return size


def read_disk_condition(node: ScalarNode) -> str:
    """Take a size with a comparison before it, such as `>= 100GB`."""
    text = text_of(node).strip()
    bytes_of(re.sub(r"^(?:>=|<=|>|<|==)", "", text).strip())
    return text


def read_mode(node: ScalarNode) -> int:
    """Take the permissions of a file."""
    return read_integer(0, 2**32 - 1)(node)


def read_base64(node: ScalarNode) -> str:
    """Take base64, written again without line breaks."""
    text = re.sub(r"[\r\n]", "", text_of(node))
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)).decode()
    except (binascii.Error, ValueError):
        raise ValueError("base64") from None


def read_address(node: ScalarNode) -> str:
    """Take an IP address, in its shortest form."""
    text = text_of(node)
    if not text:
        return ""
    try:
        return address_text(text)
    except ValueError:
        raise ValueError("an IP address") from None


def read_prefix(node: ScalarNode) -> str:
    """Take an IP address with a prefix length."""
    text = text_of(node)
    if not text:
        return ""
    _, slash, bits = text.partition("/")
    if slash and re.fullmatch(r"0|[1-9][0-9]{0,2}", bits) and "%" not in text:
        try:
            return f"{address_text(str(ip_interface(text).ip))}/{bits}"
        except ValueError:
            pass
    raise ValueError("an IP prefix such as 10.0.0.0/24")


def read_address_port(node: ScalarNode) -> str:
    """Take an IP address with a port."""
    text = text_of(node)
    if not text:
        return ""
    host, _, port = text.rpartition(":")
    if port.isdecimal() and int(port) < 65536 and (host.startswith("[") == (":" in host)):
        try:
            address = address_text(host.strip("[]"))
        except ValueError:
            pass
        else:
            return f"[{address}]:{int(port)}" if ":" in address else f"{address}:{int(port)}"
    raise ValueError("an IP address with a port")


def read_hardware_address(node: ScalarNode) -> str:
    """Take hexadecimal bytes with or without colons."""
    digits = text_of(node).replace(":", "").lower()
    if len(digits) % 2 or not re.fullmatch("[0-9a-f]*", digits):
        raise ValueError("a hardware address")
    return ":".join(digits[index : index + 2] for index in range(0, len(digits), 2))


def read_port_range(node: ScalarNode) -> int | str:
    """Take a port or a range of them."""
    with suppress(ValueError):
        return read_integer(0, 65535)(node)
    low, dash, high = text_of(node).partition("-")
    if dash and low.isdecimal() and high.isdecimal() and int(low) < 65536 and int(high) < 65536:
        return int(low) if int(low) == int(high) else f"{int(low)}-{int(high)}"
    raise ValueError("a port or a range such as 6443 or 8000-8999")


def read_url(node: ScalarNode) -> str:
    """Take what Go takes for a URL."""
    return go_url(text_of(node)).text


def read_octal(value: Any) -> Any:
    """Return permissions as they are written."""
    return Verbatim(f"0o{value:o}")
