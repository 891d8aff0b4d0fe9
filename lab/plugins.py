"""What comes first on PATH inside the lab: the engine's wrapper, and stand-ins for plugins no registry carries."""

import os
import shutil
import sys
from pathlib import Path
from shlex import join, quote

from lab.run import ROOT, Run

STAND_INS = {"talos": "lab.standin.talos", "proxmoxve": "lab.standin.proxmoxve"}
"""Providers with a stand-in, and its module."""
PLATFORMS = {"bare-metal": (), "proxmox": ("proxmoxve",)}
"""Platforms the lab can be, with the providers that make their machines."""


def real_plugins() -> bool:
    """Tell whether the user's own plugins are to be used (LAB_PLUGINS=real)."""
    return os.environ.get("LAB_PLUGINS") == "real"


def write(run: Run, engine: Path, source: Path) -> None:
    """Fill the run's ``bin`` anew.

    A stand-in of a whole platform is used even with real plugins: the real one would look for a real hypervisor.
    """
    shutil.rmtree(run.bin, ignore_errors=True)
    run.bin.mkdir()
    python = [sys.executable, "-P"]
    language_host(run.bin)
    if not shutil.which("pulumi-resource-pulumi-python"):
        _script(run.bin / "pulumi-resource-pulumi-python", [*python, "-u", "-m", "pulumi.dynamic"])
    for name, module in STAND_INS.items():
        if not real_plugins() or name in {provider for providers in PLATFORMS.values() for provider in providers}:
            _script(run.bin / f"pulumi-resource-{name}", ["env", f"PYTHONPATH={ROOT}", *python, "-m", module])
    derived = run.project / source.name
    refresh = join(["env", f"PYTHONPATH={ROOT}", *python, "-m", "lab.project", run.stack])
    _script(
        run.bin / "pulumi",
        [str(engine), "--cwd", str(run.project)],
        before=f"if [ {quote(str(source))} -nt {quote(str(derived))} ]; then {refresh} || exit; fi",
    )


def language_host(folder: Path) -> None:
    """Put a stand-in for the language host into ``folder`` where there is no real one on PATH."""
    if not shutil.which("pulumi-language-python"):
        _script(folder / "pulumi-language-python", [sys.executable, "-P", str(ROOT / "lab" / "languagehost.py")])


def share_installed(run: Run) -> None:
    """Let the run's engine see the plugins in the user's own Pulumi home."""
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    link = run.folder / "home" / "plugins"
    if real_plugins() and (home / "plugins").is_dir() and not link.exists():
        link.symlink_to(home / "plugins")


def _script(path: Path, command: list[str], before: str = ":") -> None:
    path.write_text(f'#!/bin/sh\n{before}\nexec {join(command)} "$@"\n')
    path.chmod(0o755)
