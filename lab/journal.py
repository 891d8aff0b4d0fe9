"""The journal: what happened in the lab, in order, one JSON object a line, and never a secret in it."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from lab.clock import Clock

Entry = dict[str, Any]
REDACTED = "[redacted]"
_PRIVATE = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END|$)", re.S)
_BASE64 = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]*")
_SHORTEST = 8  # characters; anything shorter would match by chance


class Journal:
    """Appends entries to ``path`` and tells its watchers.

    An entry is ``{"n", "at", "machine", "event", …}``: ``n`` counts up by one, ``at`` is simulated seconds. Every line
    is flushed when it is written. Text that holds key material, or a value given to ``keep_secret``, is replaced, and a
    ``violation`` entry says where it came from.
    """

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        """Open ``path`` for appending, readable by its owner alone."""
        self.path = path
        self.entries: list[Entry] = []
        self._clock = clock or Clock()
        self._secrets: set[str] = set()
        self._watchers: list[Callable[[Entry], None]] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        self._file: IO[str] | None = path.open("a", encoding="utf-8")

    def __enter__(self) -> "Journal":
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; later entries are dropped, because a world that ends is not a world that fails."""
        if self._file:
            self._file.close()
            self._file = None

    def watch(self, watcher: Callable[[Entry], None]) -> None:
        """Call ``watcher`` with every later entry, after it was written."""
        self._watchers.append(watcher)

    def keep_secret(self, values: Iterable[str]) -> None:
        """Learn values that no entry may ever hold; base64 of PEM is known in its decoded lines too."""
        for value in values:
            for piece in (value, *_decoded_lines(value)):
                if len(piece) >= _SHORTEST:
                    self._secrets.add(piece)

    def leaks(self, text: str) -> bool:
        """Whether ``text`` holds a known secret or a private key: for the lab's other logs."""
        return self._clean(text) != text

    def record(self, event: str, machine: str = "", **fields: object) -> None:
        """Write one entry; a secret in it is replaced and reported as a violation."""
        entry = json.loads(json.dumps({"machine": machine, "event": event, **fields}, default=str))
        clean = self._without_secrets(entry)
        self._write(clean)
        if clean != entry:
            self.violation("secret in a log", machine, where=f"journal entry {event!r}")

    def violation(self, invariant: str, machine: str = "", **fields: object) -> None:
        """Record that an invariant was broken."""
        self._write({"machine": machine, "event": "violation", "invariant": invariant, **fields})

    def violations(self) -> list[Entry]:
        """Every violation so far."""
        return [entry for entry in self.entries if entry["event"] == "violation"]

    def events(self, event: str, machine: str | None = None) -> list[Entry]:
        """The entries of one kind, of one machine or of all."""
        return [e for e in self.entries if e["event"] == event and machine in (None, e["machine"])]

    def _write(self, fields: Entry) -> None:
        if not self._file:
            return
        entry: Entry = {"n": len(self.entries), "at": round(self._clock.now(), 3), **fields}
        self.entries.append(entry)
        self._file.write(json.dumps(entry, default=str) + "\n")
        self._file.flush()
        for watcher in self._watchers:
            watcher(entry)

    def _without_secrets(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._clean(value)
        if isinstance(value, list):
            return [self._without_secrets(part) for part in value]
        if isinstance(value, dict):
            return {self._clean(key): self._without_secrets(part) for key, part in value.items()}
        return value

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, REDACTED)
        text = _PRIVATE.sub(REDACTED, text)
        return _BASE64.sub(lambda match: REDACTED if _is_private(match[0]) else match[0], text)


def _decode(value: str) -> str:
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""


def _decoded_lines(value: str) -> tuple[str, ...]:
    return tuple(line for line in _decode(value).splitlines() if len(line) >= 32 and not line.startswith("-----"))


def _is_private(value: str) -> bool:
    return "PRIVATE KEY" in _decode(value[: len(value) // 4 * 4])
