"""A local line for every credential that is issued: who got what, for how long. It holds no secret."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from cli.errors import CliError

_NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)  # Windows has none


def file() -> Path:
    """Return where the lines are: in the user's folder for what programs note, outside of every checkout."""
    base = os.environ.get("XDG_STATE_HOME") or ""
    state = Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "state"
    return state / "talos-stacks" / "audit.jsonl"


def note(entry: Mapping[str, object]) -> Path:
    """Append one line and return the file; raises CliError where it cannot be kept, so that nothing goes unnoted.

    A line is one write to a file that is opened for appending, so that two commands at once cannot mix theirs.
    """
    path = file()
    line = (json.dumps(entry, ensure_ascii=True) + "\n").encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_LINK, 0o600)
        try:
            path.chmod(0o600)
            written = os.write(descriptor, line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise CliError(f"nothing was issued, because it cannot be noted in {path}: {error.strerror}") from None
    if written != len(line):
        raise CliError(f"nothing was issued, because it cannot be noted in {path}: the line was cut off")
    return path
