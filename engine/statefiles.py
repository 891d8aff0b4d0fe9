"""What a killed run leaves half written in a state that is kept in files.

The engine replaces a state file in one step. The file of attributes beside it, which a file backend writes too, is
written in place, just before: a run killed in that moment leaves it empty, and from then on every command ends with
"failed to load checkpoint: EOF", although the state is whole. Attributes may be missing, so a file that cannot be read
is removed.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine import PROJECT

SCHEME = "file://"


class StateFiles:
    """The files of one stack in a file backend."""

    def __init__(self, url: str, stack: str) -> None:
        """Look below the folder that ``pulumi whoami`` gives as the backend."""
        self._root = Path(url.removeprefix(SCHEME).partition("?")[0]).expanduser() / ".pulumi"
        self._stack = stack

    def unreadable(self) -> list[Path]:
        """Return attributes that nobody can read, and copies that never got their name."""
        folder = self._root / "stacks" / PROJECT
        attributes = [path for path in sorted(folder.glob(f"{self._stack}.json*.attrs")) if not _is_json(path)]
        return attributes + sorted(folder.glob(f"{self._stack}.json*.tmp"))

    def pending(self) -> list[dict[str, Any]]:
        """Return the operations that were begun and never ended; none where there is no state that can be read."""
        try:
            found = json.loads((self._root / "stacks" / PROJECT / f"{self._stack}.json").read_text())
        except (OSError, ValueError):
            return []
        return (found["checkpoint"].get("latest") or {}).get("pending_operations") or []

    def locks(self) -> Iterator[str]:
        """Yield who holds the stack, in the engine's own words."""
        for path in sorted((self._root / "locks/organization" / PROJECT / self._stack).glob("*.json")):
            lock = json.loads(path.read_text())
            yield f"created by {lock['username']}@{lock['hostname']} (pid {lock['pid']}) at {lock['timestamp']}"


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text())
    except ValueError:
        return False
    return True
