"""Forms that Go's libraries read and Talos relies on: durations, sizes in bytes, URLs."""

import re
from dataclasses import dataclass
from decimal import Decimal

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")


def duration(text: str) -> int | None:
    """Return the nanoseconds of a duration such as `1h15m30.5s`, or None where it is not one."""
    if text in ("0", "+0", "-0"):
        return 0
    sign, body = (-1 if text[:1] == "-" else 1), text.lstrip("+-") if text[:1] in "+-" else text
    if not body or not re.fullmatch(f"(?:{_PART.pattern})+", body):
        return None
    return sign * int(sum(Decimal(number) * _UNITS[unit] for number, unit in _PART.findall(body)))


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
    if (
        factor is None
        or not re.fullmatch(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", number)
        or (size := int(Decimal(number) * factor)) >= 2**64
    ):
        raise ValueError("a size such as 50GiB")
    return size


@dataclass(frozen=True)
class Url:
    """The parts of a URL as Go's parser sees them."""

    scheme: str
    user: str
    host: str
    path: str
    query: str
    fragment: str

    @property
    def text(self) -> str:
        """The URL written again, with a slash between a host and a path that has none."""
        authority = f"{self.user}@{self.host}" if self.user else self.host
        slashes = f"//{authority}" if authority or self.scheme == "file" else ""
        tail = ("?" + self.query if self.query else "") + ("#" + self.fragment if self.fragment else "")
        path = f"/{self.path}" if self.host and self.path and not self.path.startswith("/") else self.path
        return (f"{self.scheme}:" if self.scheme else "") + slashes + path + tail

    @property
    def hostname(self) -> str:
        """The host without its port and brackets."""
        host = re.sub(r":[0-9]*$", "", self.host) if not self.host.endswith("]") else self.host
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host

    @property
    def port(self) -> str:
        """The port, or nothing."""
        match = re.search(r":([0-9]*)$", self.host)
        return match[1] if match and not self.host.endswith("]") else ""


def go_url(text: str) -> Url:
    """Return the parts of a URL; raise ValueError where Go would not parse it."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise ValueError("a URL without control characters")
    rest, _, fragment = text.partition("#")
    scheme = ""
    if match := re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", rest):
        scheme, rest = match[1].lower(), rest[match.end() :]
    elif rest.startswith(":"):
        raise ValueError("a URL with a scheme")
    rest, _, query = rest.partition("?")
    if not rest.startswith("/") and ":" in rest.split("/")[0] and not scheme:
        raise ValueError("a URL with a scheme")
    user = host = ""
    path = rest
    if rest.startswith("//"):
        authority, slash, tail = rest[2:].partition("/")
        path = slash + tail
        user, _, host = authority.rpartition("@")
        _check_host(host)
    if re.search(r"%(?![0-9A-Fa-f]{2})", path):
        raise ValueError("a URL with whole percent escapes")
    return Url(scheme, user, host, path, query, fragment)


def _check_host(host: str) -> None:
    if host.startswith("["):
        if "]" not in host or not re.fullmatch(r"(?::[0-9]*)?", host.rpartition("]")[2]):
            raise ValueError("a URL with a valid host")
    elif (":" in host and not re.fullmatch(r"[0-9]*", host.rpartition(":")[2])) or re.search(r'[ <>"\\^`{}|]', host):
        raise ValueError("a URL with a valid host and port")
