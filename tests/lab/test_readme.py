"""What the README promises works as it stands there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine import ROOT

README = (ROOT / "README.md").read_text()
DOCS = {path.name: path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}


def commands() -> list[str]:
    """The lines of the README's console blocks, in order."""
    blocks = re.findall(r"^```console\n(.*?)^```", README, re.M | re.S)
    return [line for block in blocks for line in block.splitlines() if line]


def test_a_command_is_there_before_it_is_called() -> None:
    there = {"make", "cp"}
    for line in commands():
        if aliased := re.match(r'alias ([a-z-]+)="\$PWD/\.venv/bin/', line):
            there.add(aliased[1])
        else:
            assert line.split()[0] in there, line


@pytest.mark.parametrize("name", list(DOCS))
def test_every_target_that_is_named_exists(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"(?:^|`|-- )make ([a-z][a-z-]*)", DOCS[name], re.M))
    assert named <= targets


def test_the_patch_for_one_stack_reaches_that_stack_alone(tmp_path: Path) -> None:
    path, text = re.findall(r"^```yaml\n# patches/(worker/\S+)\n(.*?)^```", README, re.M | re.S)[0]
    for name in ("Pulumi.yaml", "Pulumi.lab.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "patches", tmp_path / "patches", ignore=shutil.ignore_patterns("node", "zone"))
    patch = tmp_path / "patches" / path

    def explained(stack: str) -> "subprocess.CompletedProcess[str]":
        patch.write_text(text.replace('"mine"', f'"{stack}"'))
        command = [sys.executable, "-m", "cli", "explain", "--project", str(tmp_path), "--stack", "lab"]
        asked = [*command, "lab-worker-01", 'machine.sysctls["vm.nr_hugepages"]']
        return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=60)

    assert f"set by patches/{path}:4" in explained("lab").stdout
    assert explained("mine").returncode == 1
