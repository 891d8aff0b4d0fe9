"""One run of the lab: a folder ``.lab/<stack>/`` with everything that belongs to it, and the environment inside."""

import hashlib
import json
import os
import re
import secrets
import shutil
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lab import control
from lab.settings import HOME, home

STACK_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""What Pulumi takes for the name of a stack."""
SOCKET_PATH_LIMIT = 100
"""Bytes; the kernel takes 107 on Linux and 103 on macOS."""
TRUST = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
"""Variables that name the CA certificates to trust."""
FOREIGN = (
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("pulumi_config_passphrase", "pulumi_option_", "pulumi_access_token"),
)
"""How variables begin, in small letters, that are about the world outside: proxies, and how other stacks are run."""


@dataclass(frozen=True)
class Run:
    """Where the parts of one run lie."""

    stack: str
    home: Path = field(default_factory=home)

    def __post_init__(self) -> None:
        """Refuse a name that is no stack's: the folder of that name is removed at the end."""
        if not STACK_NAME.fullmatch(self.stack):
            raise ValueError(f"{self.stack!r} is not the name of a stack")

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self.home / self.stack

    @property
    def project(self) -> Path:
        """The project as the engine sees it: the real program, the stack file with lab secrets."""
        return self.folder / "project"

    @property
    def bin(self) -> Path:
        """What comes first on PATH inside."""
        return self.folder / "bin"

    @property
    def journal(self) -> Path:
        """The journal."""
        return self.folder / "journal.jsonl"

    @property
    def log(self) -> Path:
        """What the world says of itself."""
        return self.folder / "world.log"

    @property
    def bundle(self) -> Path:
        """The CA certificates to trust inside."""
        return self.folder / "ca.pem"

    @property
    def hosts(self) -> Path:
        """What /etc/hosts is inside."""
        return self.folder / "hosts"

    @property
    def passphrase(self) -> Path:
        """The file with the passphrase of the run's state."""
        return self.folder / "passphrase"

    @property
    def backend(self) -> str:
        """Where the engine keeps the state of the stack."""
        return f"file://{self.folder / 'state'}"

    def lock(self, purpose: str) -> Path:
        """The file that one process at a time holds for one purpose; beside the folder, which comes and goes."""
        return self.home / f".{self.stack}.{purpose}.lock"

    @cached_property
    def socket(self) -> Path:
        """The control socket; a long path to the checkout moves it to the temporary folder."""
        path = self.folder / "control.sock"
        if len(os.fsencode(path)) <= SOCKET_PATH_LIMIT:
            return path
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"talos-stacks-{os.getuid()}" / f"{digest}.sock"

    def settings(self) -> dict[str, Any]:
        """Return what the world was started with, empty where there is none: pid, sealed, etcd, speed, stack_file."""
        try:
            found: dict[str, Any] = json.loads((self.folder / "run.json").read_text())
        except (OSError, ValueError):
            return {}
        return found

    def save(self, **settings: object) -> None:
        """Change some of the settings, all at once."""
        merged = self.settings() | settings
        unfinished = self.folder / f".run.{os.getpid()}"
        unfinished.write_text(json.dumps(merged, indent=1))
        unfinished.replace(self.folder / "run.json")

    def create(self) -> None:
        """Make the folder for its owner alone, with a passphrase of its own."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in ("state", "home", "bin", "project", "logs"):
            (self.folder / name).mkdir(exist_ok=True)
        self.socket.parent.mkdir(exist_ok=True, mode=0o700)
        if not self.passphrase.exists():
            self.passphrase.touch(mode=0o600)
            self.passphrase.write_text(secrets.token_urlsafe(24))

    def remove(self) -> None:
        """Remove everything the run left."""
        self.socket.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        """Return the environment of a command inside."""
        outer = {name: value for name, value in os.environ.items() if not name.lower().startswith(FOREIGN)}
        return outer | {
            "PATH": os.pathsep.join([str(self.bin), outer.get("PATH", os.defpath)]),
            "PULUMI_HOME": str(self.folder / "home"),
            "PULUMI_BACKEND_URL": self.backend,
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(self.passphrase),
            "PULUMI_STACK": self.stack,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            **dict.fromkeys(TRUST, str(self.bundle)),
            "KUBECONFIG": str(self.folder / "kubeconfig"),
            "TALOSCONFIG": str(self.folder / "talosconfig"),
            # What programs note of their work, such as who got access: the lab's is no entry in the user's own audit.
            "XDG_STATE_HOME": str(self.folder / "user-state"),
            "LAB_STACK": self.stack,
            HOME: str(self.home),
            control.VARIABLE: str(self.socket),
        }
