"""Talos's own validator, as far as a script can stand for it: how it is asked, and what becomes of its answer."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from machineconfig.checks import talosctl
from tests.machineconfig.stacks import raw
from tests.machineconfig.test_mutations import faults

SAYS = (
    "1 error occurred:\n\t* v1alpha1.Config: 1 error occurred:\n"
    '\t* machine.install.disk: disk "/dev/sda" is not to my liking\n'
)
SCRIPT = """#!/usr/bin/env python3
import json, os, pathlib, sys
asked = pathlib.Path(sys.argv[0]).parent
if sys.argv[1] == "version":
    print("Client VERSION")
    sys.exit(0)
config = pathlib.Path(sys.argv[sys.argv.index("--config") + 1])
seen = {"arguments": sys.argv[1:], "mode": config.stat().st_mode & 0o777, "text": config.read_text()}
seen["environment"] = sorted(os.environ)
(asked / f"asked-{os.getpid()}.json").write_text(json.dumps(seen))
sys.stderr.write(SAYS)
sys.exit(1 if SAYS else 0)
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, says: str = "", version: str = "v1.13.9") -> Path:
    folder.mkdir()
    program = folder / "talosctl"
    program.write_text(SCRIPT.replace("SAYS", repr(says)).replace("VERSION", version))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def asked(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in folder.glob("asked-*.json")]


def test_it_is_asked_once_for_configurations_that_differ_in_name_and_address_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install(tmp_path / "bin", monkeypatch)
    more = {"name": "w2", "role": "worker", "address": "192.168.1.123", "cores": 4, "memory": 8192, "diskSize": 40}
    assert faults(tmp_path, {}, nodes=[*raw()["nodes"], more]) == ()
    assert len(asked(folder)) == 2, "a control plane and a worker"


def test_it_gets_the_configuration_in_a_file_that_is_private_and_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install(tmp_path / "bin", monkeypatch)
    assert faults(tmp_path, {}) == ()
    for call in asked(folder):
        assert call["arguments"][:4] == ["validate", "--mode", "metal", "--config"]
        assert len(call["arguments"]) == 5 and "machine:" not in " ".join(call["arguments"])
        assert call["mode"] == 0o600 and "clusterName: homelab" in call["text"]
        assert not Path(call["arguments"][4]).exists()


def test_it_inherits_no_variable_that_could_hold_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PULUMI_CONFIG", "ANY_OTHER"):
        monkeypatch.setenv(name, "in clear")
    folder = install(tmp_path / "bin", monkeypatch)
    assert faults(tmp_path, {}) == ()
    assert asked(folder)
    for call in asked(folder):
        assert not {"PULUMI_CONFIG", "ANY_OTHER"} & set(call["environment"])


def test_what_it_refuses_is_a_finding_with_the_file_that_set_the_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "bin", monkeypatch, SAYS)
    assert faults(tmp_path, {}) == (
        "patches/platform/proxmox/15-install.yaml:4 (cp1, w1): machine.install.disk:"
        ' disk "/dev/sda" is not to my liking; correct the patch, or the key of the stack file that it takes this from'
        " [talosctl-refuses]",
    )


def test_it_is_not_asked_what_talos_is_known_to_refuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = install(tmp_path / "bin", monkeypatch, SAYS)
    text = "cluster:\n  network:\n    cni: {name: none, urls: [https://example.net/a.yaml]}\n"
    lines = faults(tmp_path, {"controlplane/70-x.yaml": text})
    assert [line.rpartition("[")[2] for line in lines] == ["talos-refuses]", "talosctl-refuses]"]
    assert len(asked(folder)) == 1, "only for the worker"


@pytest.mark.parametrize("version", ["v1.12.4", "nothing that is known"])
def test_an_older_one_is_not_asked_because_it_knows_less(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install(tmp_path / "bin", monkeypatch, SAYS, version)
    assert faults(tmp_path, {}) == ()
    assert asked(folder) == []


def test_one_that_does_not_end_is_a_finding_and_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = install(tmp_path / "bin", monkeypatch)
    program = folder / "talosctl"
    program.write_text(program.read_text().replace("config = ", "import time; time.sleep(60); config = "))
    assert talosctl._minor(str(program)) > (1, 0), "it says its version, however slow this machine is"
    monkeypatch.setattr(talosctl, "_TIMEOUT", 1)
    lines = faults(tmp_path, {})
    assert lines == (
        "machine configuration (cp1, w1): talosctl validate did not end; correct the patch, or the key of the"
        " stack file that it takes this from [talosctl-refuses]",
    )
