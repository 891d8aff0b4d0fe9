"""URLs as Go's net/url reads them and writes them again, which is what Talos does with every URL."""

import re
from dataclasses import dataclass, fields
from ipaddress import IPv6Address
from urllib.parse import quote, unquote

# What each part holds unescaped beside letters, digits and `-_.~`.
_PATH = "$&+,/:;=@"
_FRAGMENT = "$&+,/:;=?@!()*"
_USER = "$&+,;="
_HOST = "!$&'()*+,;=:[]<>\""
# What may stand unescaped in a text that is kept as it was.
_KEPT = "!$&'()*+,;=:@[]%"
_ESCAPED = re.compile("%[0-9A-Fa-f]{2}")


@dataclass(frozen=True)
class Url:
    """The parts of a URL, unescaped, but for the user with its `@`.

    `raw_path` and `raw_fragment` are as they were, where that is another escaping than Go's.
    """

    scheme: str = ""
    opaque: str = ""
    user: str = ""
    host: str = ""
    path: str = ""
    fragment: str = ""
    query: str = ""
    raw_path: str = ""
    raw_fragment: str = ""
    asks: bool = False
    """Whether a `?` stands at the end with nothing behind it."""
    hostless: bool = False
    """Whether there are no `//` for a host."""

    @property
    def text(self) -> str:
        """The URL written again."""
        before = f"{self.scheme}:" if self.scheme else ""
        mark = "?" if self.asks or self.query else ""
        after = (
            mark + self.query + (f"#{_escaped(self.fragment, self.raw_fragment, _FRAGMENT)}" if self.fragment else "")
        )
        if self.opaque:
            return before + self.opaque + after
        authority = self.user + _quoted(self.host, _HOST)
        if authority or (self.scheme and not self.hostless and self.path):
            before += f"//{authority}"
        path = "*" if self.path == "*" else _escaped(self.path, self.raw_path, _PATH)
        if self.host and path and not path.startswith("/"):
            path = f"/{path}"
        elif not before and ":" in path.partition("/")[0]:
            path = f"./{path}"
        return before + path + after

    @property
    def hostname(self) -> str:
        """The host without its port and brackets."""
        host = re.sub(r":[0-9]*\Z", "", self.host)
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host

    @property
    def port(self) -> str:
        """The port, or nothing."""
        match = re.search(r":([0-9]*)\Z", self.host)
        return match[1] if match else ""

    def merged(self, other: "Url") -> "Url":
        """Return this with every part that the other one says."""
        texts = {each.name: getattr(other, each.name) or getattr(self, each.name) for each in fields(self)}
        return Url(**texts | {"asks": other.asks, "hostless": other.hostless})


def go_url(text: str) -> Url:
    """Return the parts of a URL; raise ValueError where Go would not parse it."""
    rest, _, fragment = text.partition("#")
    if re.search(r"[\x00-\x1f\x7f]", rest):
        raise ValueError("a URL without control characters")
    scheme = ""
    if match := re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", rest):
        scheme, rest = match[1].lower(), rest[match.end() :]
    elif rest.startswith(":"):
        raise ValueError("a URL with a scheme")
    asks = rest.endswith("?") and rest.count("?") == 1
    rest, _, query = rest.partition("?")
    opaque = user = host = ""
    hostless = False
    if scheme and not rest.startswith("/"):
        opaque, rest = rest, ""
    elif not rest.startswith("/") and ":" in rest.partition("/")[0]:
        raise ValueError("a URL with a scheme")
    elif rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        before, at, host = authority.rpartition("@")
        user, host, rest = _user(before) + at, _host(scheme, host), slash + path
    else:
        hostless = bool(scheme)
    path, raw_path = _unescaped(rest), _raw(rest, _PATH)
    fragment, raw_fragment = _unescaped(fragment), _raw(fragment, _FRAGMENT)
    return Url(scheme, opaque, user, host, path, fragment, query, raw_path, raw_fragment, asks, hostless)


def _quoted(text: str, safe: str) -> str:
    return quote(text, safe, errors="surrogateescape")


def _unescaped(text: str) -> str:
    if "%" in _ESCAPED.sub("", text):
        raise ValueError("a URL with whole percent escapes")
    return unquote(text, errors="surrogateescape")


def _raw(text: str, safe: str) -> str:
    return "" if _quoted(_unescaped(text), safe) == text else text


def _escaped(text: str, raw: str, safe: str) -> str:
    """Return the escaped form that was there, if it is one and still means the same, or else Go's own."""
    kept = raw and _quoted(raw, safe + _KEPT) == raw and _unescaped(raw) == text
    return raw if kept else _quoted(text, safe)


def _user(text: str) -> str:
    if re.search(r"[^A-Za-z0-9._:~!$&'()*+,;=%@-]", text):
        raise ValueError("a URL with a valid user")
    return ":".join(_quoted(_unescaped(part), _USER) for part in text.split(":", 1))


def _host(scheme: str, host: str) -> str:
    name, colon, port = host, "", ""
    if host.startswith("[") and "[" not in host[1:]:
        name, _, rest = host[1:].rpartition("]")
        _check_literal(name, rest)
        return f"[{unquote(name)}]{rest}"
    first = host.find(":")
    name, colon, port = host.partition(":") if scheme in ("http", "https") else host.rpartition(":")
    if "[" in host or (first >= 0 and colon and not re.fullmatch("[0-9]*", port)):
        raise ValueError("a URL with a valid host and port")
    bare = _ESCAPED.sub("", host)
    unescaped = unquote(host, errors="surrogateescape")
    ascii_escapes = re.search("%(?!25)[0-7]", host)
    if "%" in bare or ascii_escapes or re.search(r"[\x00-\x20#%/?@\\^`{|}\x7f]", bare):
        raise ValueError("a URL with a valid host and port")
    return unescaped


def _check_literal(name: str, rest: str) -> None:
    """Check what stands in brackets, and what follows them."""
    try:
        IPv6Address(_unescaped(name))
    except ValueError:
        raise ValueError("a URL with a valid host") from None
    if not re.fullmatch("(?::[0-9]*)?", rest) or ("%" in name and "%25" not in name):
        raise ValueError("a URL with a valid host")
