"""Files that one process at a time holds: what two runs of the same command must not do at once.

The kernel releases the lock of a process that ends, however it ends. A lock file is removed by who held it; one that a
killed process left is taken as it is.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def hold(path: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the file ``path``; where another process holds it, call ``waiting`` and wait. Windows takes no turns."""
    if sys.platform == "win32":
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    file = _held(path, waiting)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        file.close()


def _held(path: Path, waiting: Callable[[], None]) -> TextIO:
    import fcntl  # not on Windows

    while True:
        file = path.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        if _is_at(file, path):
            return file
        file.close()  # removed by who held it; whoever comes next does not see this file


def _is_at(file: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
