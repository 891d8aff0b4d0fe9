"""The commands against machines that are up: what they run is what the files say, until a file changes."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.stack.rehearsal import Rehearsal

pytestmark = pytest.mark.stack

SECRET = 'machine:\n  sysctls:\n    vm.own: {{ secret("own") | flow }}\n'
OWN = "machine:\n  sysctls:\n    vm.max_map_count: '262144'\n"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    rehearsal = Rehearsal(tmp_path_factory.mktemp("commands"))
    rehearsal.patch("worker/71-secret.yaml.j2", SECRET)
    rehearsal.start()
    try:
        rehearsal.up()
        yield rehearsal
    finally:
        rehearsal.down()


def command(lab: Rehearsal, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command inside the lab, where its engine and its machines are."""
    name, *rest = arguments
    given = [sys.executable, "-m", "cli", name, "--project", str(lab.project), "--stack", "lab", *rest]
    ended = lab._lab("run", "lab", "--", *given, check=False)
    assert "Traceback" not in ended.stderr
    return ended


def test_what_was_applied_is_no_difference(lab: Rehearsal) -> None:
    ended = command(lab, "diff")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "no difference (5 nodes)\n", "")


def test_an_edited_patch_is_exactly_that_change_with_its_file(lab: Rehearsal) -> None:
    lab.patch("controlplane/70-own.yaml", OWN)
    try:
        ended = command(lab, "diff")
        found = json.loads(command(lab, "diff", "--node", "lab-controlplane-02", "--output", "json").stdout)
    finally:
        (lab.project / "patches/controlplane/70-own.yaml").unlink()
    line = '  + machine.sysctls["vm.max_map_count"]: "262144"  patches/controlplane/70-own.yaml:3'
    nodes = [f"lab-controlplane-0{number}: 1 difference" for number in (1, 2, 3)]
    assert (ended.returncode, ended.stderr) == (2, "")
    assert ended.stdout.splitlines() == [part for node in nodes for part in (node, line)] + ["3 of 5 nodes differ"]
    assert [change["path"] for change in found["nodes"][0]["changes"]] == ['machine.sysctls["vm.max_map_count"]']


def test_a_changed_secret_is_told_and_never_shown(lab: Rehearsal) -> None:
    before = lab.pulumi("config", "get", "own").strip()
    lab.pulumi("config", "set", "--secret", "own", "hunter2-new")
    try:
        ended = command(lab, "diff", "--node", "lab-worker-01")
    finally:
        lab.pulumi("config", "set", "--secret", "own", before)
    assert before.startswith("lab-") and before not in ended.stdout + ended.stderr
    assert ended.returncode == 2 and "hunter2" not in ended.stdout + ended.stderr
    assert ended.stdout.splitlines() == [
        "lab-worker-01: 1 difference",
        '  ~ machine.sysctls["vm.own"] (secret): changed  patches/worker/71-secret.yaml.j2:3',
        "1 of 1 nodes differ",
    ]


def test_a_secret_of_a_patch_that_is_gone_is_not_shown(lab: Rehearsal) -> None:
    secret, patch = lab.pulumi("config", "get", "own").strip(), lab.project / "patches/worker/71-secret.yaml.j2"
    patch.unlink()
    try:
        ended = command(lab, "diff", "--node", "lab-worker-01")
        lab.patch("worker/71-secret.yaml.j2", SECRET.replace('{{ secret("own") | flow }}', '"{{ secret("own") }}-new"'))
        changed = command(lab, "diff", "--node", "lab-worker-01")
    finally:
        lab.patch("worker/71-secret.yaml.j2", SECRET)
    assert (ended.returncode, changed.returncode) == (2, 2)
    assert ended.stdout.splitlines()[1] == '  - machine.sysctls["vm.own"] (secret)  no file sets it'
    assert changed.stdout.splitlines()[1].startswith('  ~ machine.sysctls["vm.own"] (secret): changed')
    for said in (ended.stdout, ended.stderr, changed.stdout, changed.stderr):
        assert secret.casefold() not in said.casefold()


def test_a_rendering_with_secrets_is_what_the_machines_run(lab: Rehearsal, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = command(lab, "render", "--show-secrets", "--out", str(out))
    assert ended.returncode == 0, ended.stderr
    secret = lab.pulumi("config", "get", "own").strip()
    final = out / "lab-worker-01" / "final.yaml"
    assert secret in final.read_text() and final.stat().st_mode & 0o077 == 0
    assert secret not in ended.stdout + ended.stderr


def test_a_machine_that_is_off_is_an_error_that_names_it(lab: Rehearsal) -> None:
    lab.power("lab-worker-02", "off")
    try:
        ended = command(lab, "diff")
    finally:
        lab.power("lab-worker-02", "on")
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: lab-worker-02: ") and ended.stderr.count("\n") == 1
    assert ended.stdout == "no difference (4 nodes)\n"


ASK = """
import asyncio, base64, json, sys, yaml
from talosapi import Client, Credentials, TalosError
config = yaml.safe_load(open(sys.argv[1]))
context = config["contexts"][config["context"]]
credentials = Credentials(*(base64.b64decode(context[key]) for key in ("ca", "crt", "key")))
async def ask(call):
    async with Client(context["endpoints"][0], credentials) as client:
        try:
            return bool(await getattr(client, call)())
        except TalosError as error:
            return error.code.name
print(json.dumps({call: asyncio.run(ask(call)) for call in ("version", "etcd_status", "reboot")}))
"""


def test_a_reader_of_ones_own_may_ask_the_machines_and_not_reboot_them(
    lab: Rehearsal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "the-users-own"))
    out = tmp_path / "reader.yaml"
    ended = command(lab, "access", "--user", "jane", "--lifetime", "15m", "--out", str(out))
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    assert json.loads(lab.command(sys.executable, "-c", ASK, str(out))) == {
        "version": True,
        "etcd_status": True,
        "reboot": "PERMISSION_DENIED",
    }
    assert not (tmp_path / "the-users-own").exists()
    audit = lab.run.folder / "user-state/talos-stacks/audit.jsonl"
    noted = audit.read_text()
    line = json.loads(noted)
    assert (line["user"], line["stack"], line["role"], line["lifetime"]) == ("jane", "lab", "os:reader", 900)
    key = yaml.safe_load(out.read_text())["contexts"]["reader@lab"]["key"]
    assert key not in noted and key not in ended.stderr
    assert not [file for file, text in lab.printed() if key in text]
    audit.unlink()


def test_without_the_right_passphrase_nobody_gets_anything(lab: Rehearsal) -> None:
    wrong = ["env", "-u", "PULUMI_CONFIG_PASSPHRASE_FILE", "PULUMI_CONFIG_PASSPHRASE=wrong"]
    given = [sys.executable, "-m", "cli", "access", "--project", str(lab.project), "--stack", "lab"]
    ended = lab._lab("run", "lab", "--", *wrong, *given, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "error: the stack lab cannot be read: the passphrase is wrong" in ended.stderr
    assert not (lab.run.folder / "user-state/talos-stacks/audit.jsonl").exists()
