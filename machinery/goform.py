"""Forms that Go's libraries read and Talos relies on: durations and sizes in bytes."""

import re
from decimal import Decimal
from ipaddress import ip_address

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")


def duration(text: str) -> int | None:
    """Return the nanoseconds of a duration such as `1h15m30.5s`, or None where it is not one."""
    if text in ("0", "+0", "-0"):
        return 0
    sign, body = (-1 if text[:1] == "-" else 1), text.lstrip("+-") if text[:1] in "+-" else text
    if not body or not re.fullmatch(f"(?:{_PART.pattern})+", body):
        return None
    nanoseconds = int(sum(Decimal(number) * _UNITS[unit] for number, unit in _PART.findall(body)))
    return sign * nanoseconds if nanoseconds < 2**63 + (sign < 0) else None


def duration_text(nanoseconds: int) -> str:
    """Return a duration as Go writes it: `1h15m0s`, `1.5s`, `100ms`."""
    sign, left = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    if left < 10**9:
        unit = next(name for name in ("ms", "µs", "ns") if left >= _UNITS[name])
        return f"{sign}{_trim(Decimal(left) / _UNITS[unit])}{unit}"
    minutes, rest = divmod(left, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_trim(Decimal(rest) / 10**9)}s"
    return sign + (f"{hours}h{minutes}m{seconds}" if hours else f"{minutes}m{seconds}" if minutes else seconds)


def _trim(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_SIZES = {"": 1, "b": 1} | {
    name: base**power
    for power, letter in enumerate("kmgtpe", 1)
    for base, names in ((1000, (letter, letter + "b")), (1024, (letter + "i", letter + "ib")))
    for name in names
}


def bytes_of(text: str) -> int:
    """Return the bytes of a size such as `50GiB`, `100 MB` or `1,024`; raise ValueError for anything else."""
    match = re.fullmatch(r"([0-9.,]+)\s*([A-Za-z]*)\s*", text)
    factor = _SIZES.get(match[2].lower()) if match else None
    number = match[1].replace(",", "") if match else ""
    if factor is None or not re.fullmatch(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", number):
        raise ValueError("a size such as 50GiB")
    size = float(number) * factor
    if size >= 2**64:
        raise ValueError("a size such as 50GiB")
    return int(size)


def address_text(text: str) -> str:
    """Return an IP address as Go writes it; raise ValueError for what is none."""
    address = ip_address(text)
    mapped = getattr(address, "ipv4_mapped", None)
    zone = text.partition("%")[2]
    return f"::ffff:{mapped}{f'%{zone}' if zone else ''}" if mapped else str(address)
