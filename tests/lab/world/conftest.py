import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine import ROOT
from lab import lifecycle
from lab.run import Run
from tests.engine.conftest import engine as engine

PROJECT = """\
name: talos-stacks
runtime: {name: python, options: {virtualenv: .venv}}
main: __main__.py
"""
STACK = """\
encryptionsalt: v1:AAAAAAAAAAA=:v1:not-the-labs:own
config:
  talos-stacks:registryPassword: {secure: "v1:of:somebody-else"}
  talos-stacks:cluster:
    name: trial
    versions: {talos: v1.13.9, kubernetes: v1.36.2, contract: v1.13}
    network: {nodes: 192.168.7.0/24, vip: 192.168.7.5, interface: eth0}
    platform: {kind: bare-metal}
    nodes:
      - {name: cp-1, role: controlplane, address: 192.168.7.11, installDisk: {busPath: /pci0/virtio2}}
      - {name: w-1, role: worker, address: 192.168.7.21, installDisk: {busPath: /pci0/virtio2}}
"""


@dataclass
class Lab:
    """A project of its own with runs of its own, driven through the command line."""

    project: Path
    home: Path

    def run(self, name: str = "trial") -> Run:
        return Run(name, self.home)

    def __call__(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "lab", "--project", str(self.project), *arguments],
            cwd=ROOT,
            env=os.environ | {"LAB_HOME": str(self.home)} | variables,
            capture_output=True,
            text=True,
            timeout=120,
        )


@pytest.fixture
def lab(tmp_path: Path, engine: Path) -> Iterator[Lab]:
    project = tmp_path / "project"
    project.mkdir()
    without = shutil.ignore_patterns("node", "zone")  # those of other stacks
    shutil.copytree(ROOT / "patches", project / "patches", ignore=without)
    (project / "Pulumi.yaml").write_text(PROJECT)
    (project / "Pulumi.trial.yaml").write_text(STACK)
    (project / "__main__.py").write_text(
        "import pulumi\npulumi.export('password', pulumi.Config().require_secret('registryPassword'))\n"
    )
    made = Lab(project, tmp_path / "runs")
    yield made
    for folder in made.home.glob("[!.]*"):
        lifecycle.stop(Run(folder.name, made.home), print)
