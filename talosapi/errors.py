"""What goes wrong between this program and a machine, said without any secret of either."""

import re

from grpclib.const import Status

Code = Status  # gRPC's codes

_PEM = re.compile(r"-----BEGIN [^-]*-----.*?(?:-----END [^-]*-----|\Z)", re.DOTALL)
_BOOTSTRAP_TOKEN = re.compile(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b")
_YAML_SCALAR = re.compile(r"(!!\w+ )`[^`]*`")
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_LONGEST = 600

_CURES = {
    Code.UNAVAILABLE: "check on its console that it is on and has this address, and that the port is open from here",
    Code.DEADLINE_EXCEEDED: "it accepts connections but does not answer: look at its console, reboot it if it hangs",
    Code.UNAUTHENTICATED: "use the credentials of its cluster; a machine in maintenance mode takes none",
    Code.PERMISSION_DENIED: "use credentials with the role os:admin",
    Code.UNIMPLEMENTED: "the machine runs a Talos version without this call, or is in maintenance mode",
}


class TalosError(Exception):
    """A call to a machine that failed: which machine, the gRPC code, what was said, what to do.

    The text of a machine can quote its configuration, so whatever looks like a key or a token is taken out of it.
    """

    def __init__(self, node: str, code: Code, message: str, *, cure: str | None = None, refused: bool = False) -> None:
        """Keep the parts; ``cure`` defaults to what usually helps with the code.

        ``refused`` tells that there was no connection because nothing listens there.
        """
        self.refused = refused
        self.node = node
        self.code = code
        self.message = redact(message)
        self.cure = _CURES.get(code, "") if cure is None else cure
        super().__init__(self.node, self.code, self.message)

    def __str__(self) -> str:
        """One line: node, message, code, cure."""
        line = f"{self.node}: {self.message} ({self.code.name})"
        return f"{line}; {self.cure}" if self.cure else line


class CredentialsError(ValueError):
    """A certificate or key that cannot be used; says which of them, never what is in it."""


class NotReady(Exception):  # noqa: N818 - it is no error of the program: the machine is not ready
    """A machine that did not become ready in time.

    ``also`` holds the others that did not either when several were waited for at once.
    """

    def __init__(
        self, node: str, waiting_for: str, seen: str, cure: str, *, waited: float = 0, also: "tuple[NotReady, ...]" = ()
    ) -> None:
        """Keep what was waited for (``waited`` in seconds) and what was last seen."""
        self.node = node
        self.waiting_for = waiting_for
        self.seen = redact(seen)
        self.cure = cure
        self.waited = waited
        self.also = also
        super().__init__(node, waiting_for, self.seen, cure)

    def __str__(self) -> str:
        """One line for each machine."""
        line = f"{self.node}: waited {self.waited:.0f} s for {self.waiting_for}; last seen: {self.seen}; {self.cure}"
        return "\n".join([line, *map(str, self.also)])


def redact(text: str) -> str:
    """Take out of a machine's text what looks like a key, a certificate or a token, and cut it to one short line."""
    text = _PEM.sub("[redacted]", text)
    text = _BOOTSTRAP_TOKEN.sub("[redacted]", text)
    text = _YAML_SCALAR.sub(r"\1[redacted]", text)
    text = _ENCODED.sub(lambda found: "[redacted]" if _is_encoded(found.group()) else found.group(), text)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _is_encoded(run: str) -> bool:
    """Tell base64 from paths, names and the hexadecimal digests of images, which people need to read."""
    if re.fullmatch(r"[0-9a-f]+", run):
        return False
    return any(c.isdigit() for c in run) and any(c.isupper() for c in run) and any(c.islower() for c in run)
