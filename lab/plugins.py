"""What comes first on PATH inside the lab: the engine's wrapper, and stand-ins for plugins no registry carries."""

import os
import shutil
import sys
from pathlib import Path
from shlex import join, quote

from engine import ROOT
from engine.scripts import language_host, script
from lab.run import Run
from lab.settings import chosen

STAND_INS = {"talos": "lab.standin.talos", "proxmoxve": "lab.standin.proxmoxve"}
"""Providers with a stand-in, and its module."""
PLATFORMS = {"bare-metal": (), "proxmox": ("proxmoxve",)}
"""Platforms the lab can be, with the providers that make their machines."""
PLATFORM_PROVIDERS = frozenset(provider for providers in PLATFORMS.values() for provider in providers)
"""Stood in for even with real plugins: the real ones would look for real hypervisors."""


def real_plugins() -> bool:
    """Tell whether the user's own plugins are to be used (LAB_PLUGINS=real)."""
    return chosen("LAB_PLUGINS")


def write(run: Run, engine: Path, source: Path) -> None:
    """Fill the run's ``bin`` anew."""
    shutil.rmtree(run.bin, ignore_errors=True)
    run.bin.mkdir()
    python = [sys.executable, "-P"]
    language_host(run.bin)
    if not shutil.which("pulumi-resource-pulumi-python"):
        script(run.bin / "pulumi-resource-pulumi-python", [*python, "-u", "-m", "pulumi.dynamic"])
    own = ["env", f"PYTHONPATH={source.parent}", *python, "-m", "provider"]
    script(run.bin / "pulumi-resource-talos-lifecycle", own)
    for name, module in STAND_INS.items():
        if not real_plugins() or name in PLATFORM_PROVIDERS:
            script(run.bin / f"pulumi-resource-{name}", [*with_lab(), *python, "-m", module])
    derived = run.project / source.name
    refresh = join([*with_lab(), *python, "-m", "lab.project", run.stack])
    script(
        run.bin / "pulumi",
        [str(engine), "--cwd", str(run.project)],
        before=f"if [ {quote(str(source))} -nt {quote(str(derived))} ]; then {refresh} || exit; fi",
    )


def declared(run: Run) -> dict[str, list[dict[str, str]]]:
    """Return the plugins in the run's ``bin`` as Pulumi.yaml declares them; of those on PATH alone the engine warns."""
    kinds = {"providers": "pulumi-resource-", "languages": "pulumi-language-"}
    names = {
        kind: [path.name.removeprefix(begin) for path in run.bin.glob(f"{begin}*")] for kind, begin in kinds.items()
    }
    return {kind: [{"name": name, "path": str(run.bin)} for name in sorted(found)] for kind, found in names.items()}


def with_lab() -> list[str]:
    """Return the beginning of a command that can import the lab from any folder."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return ["env", f"PYTHONPATH={path}"]


def missing() -> list[str]:
    """Return the real plugins that LAB_PLUGINS=real asks for and that are neither on PATH nor installed."""
    wanted = [name for name in STAND_INS if name not in PLATFORM_PROVIDERS] if real_plugins() else []
    names = [f"pulumi-resource-{name}" for name in wanted]
    return [name for name in names if not shutil.which(name) and not list(installed().glob(f"*/{name}"))]


def installed() -> Path:
    """Return the folder of the plugins in the user's own Pulumi home."""
    return Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi") / "plugins"


def share_installed(run: Run) -> None:
    """Let the run's engine see the plugins in the user's own Pulumi home, if they are to be used."""
    link = run.folder / "home" / "plugins"
    link.unlink() if link.is_symlink() else None
    if real_plugins() and installed().is_dir() and not link.exists():
        link.symlink_to(installed())
