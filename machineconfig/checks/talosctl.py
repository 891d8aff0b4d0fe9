"""Talos's own validator, where `talosctl` is on PATH: the same question, asked of the real thing.

Configurations that differ in the node's name and address alone are asked for once. The text goes into a file that
nobody else can read and that is gone with the question; it is never among the arguments of a process.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from findings import Finding, path_of
from machineconfig.checks.configuration import Final
from machinery.problems import Problem
from topology.platforms import PLATFORMS

ID = "talosctl-refuses"
_TIMEOUT = 30
_ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT", "USERPROFILE", "TEMP")
"""What it inherits: the language host gives the program its configuration, secrets in clear, as a variable."""
_PROBLEM = re.compile(r"^(\s*)\* (.*)$", re.MULTILINE)
_QUOTED = re.compile(r'"([^"]*)"')
_PLACE = re.compile(r"(?:machine|cluster)\.[\w.\[\]-]*")
_VERSION = re.compile(r"v(\d+)\.(\d+)\.\d+")


def is_what_talosctl_takes(finals: Iterable[Final]) -> Iterator[Finding]:
    """Talos's own validator accepts the configuration. Runs if talosctl is on PATH and not older than the cluster."""
    program = shutil.which("talosctl")
    finals = tuple(finals)
    if program is None or not finals or _minor(program) < _wanted(finals[0]):
        return
    known: dict[tuple[str, str], tuple[str, ...]] = {}
    for final in finals:
        mode = PLATFORMS[final.topology.platform.kind].mode
        text = _own_name(final.node.name).sub("node", final.text).replace(str(final.node.address), "192.0.2.1")
        if (mode, text) not in known:
            known[mode, text] = _problems(program, mode, final.text)
        for problem in known[mode, text]:
            found = _PLACE.search(problem)
            quoted = _QUOTED.findall(problem)
            place = path_of(found[0]) if found else ()
            yield final.refused(Problem(problem, path=place, value=quoted[0] if quoted else ""))


def _own_name(name: str) -> re.Pattern[str]:
    """A node's name as a word: base64 may hold the same letters by chance."""
    return re.compile(rf"(?<![A-Za-z0-9+/=]){re.escape(name)}(?![A-Za-z0-9+/=])")


def _problems(program: str, mode: str, text: str) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory(prefix="talos-stacks-") as folder:  # of mode 0700
        file = Path(folder) / "machine.yaml"
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")
        ended = _run(program, "validate", "--mode", mode, "--config", str(file))
    if ended is None:
        return ("talosctl validate did not end",)
    return () if ended.returncode == 0 else tuple(_said(ended.stdout + ended.stderr))


def _said(output: str) -> Iterator[str]:
    """The innermost lines of Go's nested error lists: each is one problem, those around it only count."""
    lines = [(len(match[1].expandtabs(4)), match[2].strip()) for match in _PROBLEM.finditer(output)]
    for index, (_, text) in enumerate(lines):
        if not re.search(r"\d+ errors? occurred:$", text) or index + 1 == len(lines):
            yield text
    if not lines:
        yield next(iter(output.strip().splitlines()), "is refused")


@lru_cache(maxsize=4)
def _minor(program: str) -> tuple[int, int]:
    ended = _run(program, "version", "--client", "--short")
    found = _VERSION.search(ended.stdout + ended.stderr) if ended else None
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _wanted(final: Final) -> tuple[int, int]:
    version = final.topology.versions.talos
    return version.major, version.minor


def _run(program: str, *arguments: str) -> "subprocess.CompletedProcess[str] | None":
    try:
        return subprocess.run(
            [program, *arguments],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
            stdin=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
