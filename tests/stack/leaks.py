"""Looking for secrets where none may be: what a cluster's secrets are, and everything that a run leaves or shows.

A secret is looked for as it is, in base64 and out of it; of a key in PEM every line is looked for, so that a part of it
is found too. What is found is told by the name of the secret and the place, never by the value.
"""

import base64
import binascii
import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from tests.stack.rehearsal import Rehearsal, first_json

SHORTEST = 12
"""Characters; anything shorter would be found by chance."""
SIGNATURE = "4dabf18193072939515e22adb298388d"
"""The key that marks a secret in an exported state."""
CONFIDENTIAL = frozenset({"key", "secret", "token", "password", "client-key-data", "clientKey", "bootstrapToken"})
"""Keys whose values are confidential in a machine configuration, a kubeconfig and a talosconfig."""
PUBLIC = ("cert", "caCertificate", "clientCertificate")
"""Certificates, which are in a secret only because they stand beside their keys."""
ON_A_MACHINE = "machines"
"""The folder with the disks of the simulated machines: what a machine keeps on its disk, etcd's keys, is there."""
FOR_THE_OWNER = frozenset({"kubeconfig", "talosconfig", "passphrase", "factory.pem"})
"""Files of a run whose purpose it is to hold a credential; they are of mode 0600."""
A_KEY = "a private key that is none of the cluster's known ones"
PROGRAM = b"pulumi-language-python-exec"
OF_THE_HOST = re.compile(rb"PULUMI_CONFIG=[^\0]*\0")
"""How the real language host gives the program its configuration, secrets in clear: to that process alone."""
LOOK_EVERY = 0.02
"""Seconds between two looks at all processes."""


def secrets_of(rehearsal: Rehearsal) -> dict[bytes, str]:
    """Return every form of every secret of a cluster that is up, with its name."""
    found: dict[bytes, str] = {}
    exported = first_json(rehearsal.pulumi("stack", "export", "--show-secrets"))
    for name, value in _marked(exported, ""):
        for where, text in _confidential(value, name):
            found |= dict.fromkeys(forms(text), where)
    config = first_json(rehearsal.pulumi("config", "--show-secrets", "--json"))
    for name, entry in config.items():
        if entry.get("secret"):
            found |= dict.fromkeys(forms(entry["value"]), name)
    found |= dict.fromkeys(forms(rehearsal.run.passphrase.read_text()), "the passphrase of the state")
    return found | dict.fromkeys(any_key(), A_KEY)


def any_key() -> Iterator[bytes]:
    """Yield what every private key in PEM has in it, also in base64, wherever in a text it begins."""
    mark = b"PRIVATE KEY-----\n"
    yield mark
    yield mark.replace(b"\n", b"\\n")
    for before in range(3):
        skipped = 0 if before == 0 else 4
        yield base64.b64encode(b"-" * before + mark)[skipped:-4]


def forms(text: str) -> Iterator[bytes]:
    """Yield what gives a secret away."""
    pieces = {text, *text.split("."), *_lines(text)}
    with suppress(binascii.Error, UnicodeDecodeError):
        decoded = base64.b64decode(text, validate=True).decode()
        pieces |= {decoded, *_lines(decoded)}
    for piece in pieces:
        if len(piece) >= SHORTEST and "\n" not in piece and not piece.startswith("-----"):
            yield piece.encode()
            yield base64.b64encode(piece.encode()).rstrip(b"=")[:-1]
    if "\n" in text:
        yield base64.b64encode(text.encode())[:200]


def leaks(secrets: Mapping[bytes, str], shown: Iterable[tuple[str, bytes]]) -> list[str]:
    """Return where which secret stands."""
    return sorted({f"{name} in {place}" for place, text in shown for form, name in secrets.items() if form in text})


def files(*folders: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files that a run left, except those that are meant to hold a secret."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).parts
            if path.is_file() and ON_A_MACHINE not in inside and path.name not in FOR_THE_OWNER:
                with suppress(FileNotFoundError):
                    yield str(path.relative_to(folder)), path.read_bytes()


class Processes:
    """Watches the arguments and the environments of all processes, as ``ps`` shows them, while it is entered."""

    def __init__(self) -> None:
        """Have seen nothing yet."""
        self.seen: dict[bytes, str] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Processes":
        """Begin to watch."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Cease to watch."""
        self._over.set()
        self._thread.join()

    def shown(self) -> Iterator[tuple[str, bytes]]:
        """Yield all that was seen."""
        for text, place in list(self.seen.items()):
            yield place, text

    def _watch(self) -> None:
        known: set[tuple[str, bytes]] = set()
        while not self._over.wait(LOOK_EVERY):
            for entry in Path("/proc").iterdir():
                if not entry.name.isdigit():
                    continue
                with suppress(OSError):  # ended meanwhile, or another user's
                    arguments = (entry / "cmdline").read_bytes()
                    if (entry.name, arguments) not in known:
                        known.add((entry.name, arguments))
                        name = arguments.partition(b"\0")[0].decode(errors="replace")
                        self.seen[arguments] = f"the arguments of {name}"
                        environment = (entry / "environ").read_bytes()
                        if PROGRAM in arguments:
                            environment = OF_THE_HOST.sub(b"", environment)
                        self.seen[environment] = f"the environment of {name}"


def _marked(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield what an export with secrets shows as secret."""
    if isinstance(value, dict) and SIGNATURE in value:
        if not name.endswith(PUBLIC):
            yield name, json.loads(value["plaintext"])
    elif isinstance(value, dict):
        called = str(value.get("urn", name)).rpartition("::")[2]
        for key, inner in value.items():
            yield from _marked(inner, f"{called}.{key}" if called else key)
    elif isinstance(value, list):
        for inner in value:
            yield from _marked(inner, name)


def _confidential(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield the confidential texts in a secret; of a whole document, what stands under keys for such."""
    if isinstance(value, str) and "\n" in value and "PRIVATE KEY" not in value[:60]:
        for document in yaml.safe_load_all(value):
            yield from _under_keys(document, name)
    elif isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in PUBLIC:
                yield from _confidential(inner, f"{name}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from _confidential(inner, name)


def _under_keys(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str) and (key in CONFIDENTIAL or str(key).endswith(("Secret", "Token"))):
                yield f"{name}: {key}", inner
            else:
                yield from _under_keys(inner, f"{name}: {key}")
    elif isinstance(value, list):
        for inner in value:
            yield from _under_keys(inner, name)


def _lines(text: str) -> list[str]:
    return text.splitlines() if "\n" in text else []
