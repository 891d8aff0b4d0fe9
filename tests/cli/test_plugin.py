"""Final configurations: from the provider plugin that preview uses, else openly from this program."""

import os
import shutil
import sys
from pathlib import Path
from shlex import join

import pytest

from cli.errors import CliError
from cli.plugin import Plugin
from cli.provider import BINARY, find, package_version, provider
from engine import ROOT
from machineconfig.placeholder import placeholder_bundle
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


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """The lab's plugin, as the lab puts it on PATH."""
    command = ["env", f"PYTHONPATH={ROOT}", sys.executable, "-P", "-m", "lab.standin.talos"]
    return executable(tmp_path / "bin" / BINARY, f'#!/bin/sh\nexec {join(command)} "$@"\n')


def test_the_plugin_on_path_comes_before_the_engines_and_no_other_is_taken(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path / "bin"), "PULUMI_HOME": str(tmp_path / "home")}
    assert find(environment) is None
    installed = executable(tmp_path / f"home/plugins/resource-talos-v{package_version()}" / BINARY)
    assert package_version() and find(environment) == installed
    on_path = executable(tmp_path / "bin" / BINARY)
    assert find(environment) == on_path


def test_without_a_plugin_the_program_makes_the_configuration_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path))
    with provider() as generate:
        assert generate(ARGS) == generate_configuration(ARGS)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"warning: no Talos provider plugin {package_version()} is on PATH or installed, so this program made these"
        " configurations itself; a preview installs it, and docs/operations.md says how else\n"
    )


def test_with_a_plugin_nothing_is_said(
    stand_in: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(stand_in.parent), prepend=os.pathsep)
    with provider() as generate:
        assert generate(ARGS) == generate_configuration(ARGS)
    assert capsys.readouterr().err == ""


def test_a_plugin_gives_what_the_program_makes_itself(stand_in: Path) -> None:
    real = shutil.which(BINARY)
    for program in [stand_in, *([Path(real)] if real else [])]:
        with Plugin(program) as started:
            assert started.configuration(ARGS) == generate_configuration(ARGS)
            with pytest.raises(CliError, match="refuses"):
                started.configuration(GenerateArgs("demo", "http://x", "worker", placeholder_bundle()))


def test_a_plugin_that_does_not_start_is_said(tmp_path: Path) -> None:
    broken = executable(tmp_path / "broken", "#!/bin/sh\necho hunter2 >&2\nexit 3\n")
    with pytest.raises(CliError, match="ends without saying its port") as caught, Plugin(broken):
        pass
    assert "hunter2" not in str(caught.value)
    with pytest.raises(CliError, match="cannot be started"), Plugin(tmp_path / "none"):
        pass
