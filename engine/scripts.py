"""Scripts that take the name of a program on PATH."""

import os
import shutil
import sys
from pathlib import Path
from shlex import join

from engine import ROOT


def script(path: Path, command: list[str], before: str = ":") -> None:
    """Write a script that runs ``before`` in a shell, then becomes ``command`` with its own arguments added."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")  # two runs at once may want the same one
    unfinished.write_text(f'#!/bin/sh\n{before}\nexec {join(command)} "$@"\n')
    unfinished.chmod(0o755)
    unfinished.replace(path)


def language_host(folder: Path) -> None:
    """Put a stand-in for the language host into ``folder`` where there is no real one on PATH."""
    if not shutil.which("pulumi-language-python"):
        script(folder / "pulumi-language-python", [sys.executable, "-P", str(ROOT / "engine" / "languagehost.py")])
