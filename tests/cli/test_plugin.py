"""The provider plugin started as preview's engine starts it, and what it gives."""

import os
import sys
from pathlib import Path

import pytest

from cli import plugin
from cli.errors import CliError
from cli.plugin import Plugin, find
from machineconfig.marks import placeholder_bundle
from machinery import GenerateArgs, generate_configuration

ARGS = GenerateArgs(
    "demo",
    "https://192.0.2.1:6443",
    "controlplane",
    placeholder_bundle(),
    patches=("machine:\n  sysctls:\n    vm.own: '1'\n", "machine:\n  time:\n    servers: [time.example.net]\n"),
)


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_the_plugin_on_path_comes_before_the_engines_and_that_before_the_stand_in(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path / "bin"), "PULUMI_HOME": str(tmp_path / "home")}
    assert find(environment) == [sys.executable, "-P", "-m", "lab.standin.talos"]
    version = plugin._version()
    installed = executable(tmp_path / f"home/plugins/resource-talos-v{version}" / plugin.BINARY)
    assert version and find(environment) == [str(installed)]
    on_path = executable(tmp_path / "bin" / plugin.BINARY)
    assert find(environment) == [str(on_path)]


def test_a_plugin_gives_what_the_machinery_gives() -> None:
    stand_in = [sys.executable, "-P", "-m", "lab.standin.talos"]
    for command in {tuple(stand_in), tuple(find(os.environ))}:
        with Plugin(list(command)) as started:
            assert started.configuration(ARGS) == generate_configuration(ARGS)
            with pytest.raises(CliError, match="refuses"):
                started.configuration(GenerateArgs("demo", "http://x", "worker", placeholder_bundle()))


def test_a_plugin_that_does_not_start_is_said(tmp_path: Path) -> None:
    broken = executable(tmp_path / "broken", "#!/bin/sh\necho hunter2 >&2\nexit 3\n")
    with pytest.raises(CliError, match="ends without saying its port") as caught, Plugin([str(broken)]):
        pass
    assert "hunter2" not in str(caught.value)
    with pytest.raises(CliError, match="cannot be started"), Plugin([str(tmp_path / "none")]):
        pass
