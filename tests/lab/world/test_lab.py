"""The lab from its command line, with a program of one output."""

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine import ROOT
from engine.statefiles import StateFiles
from lab import control, lifecycle, namespace
from lab.faults import EVERY
from tests.lab.world.conftest import STACK, Lab
from tests.waiting import eventually

sealed_only = pytest.mark.skipif(namespace.obstacle() is not None, reason=f"{namespace.obstacle()}")
LOOPBACK = STACK.replace("192.168.7.", "127.0.77.")
NOPE = "there is no stack nope in {}; there are: other, trial\n"


def processes_of(home: Path) -> list[str]:
    """The command lines of everything that runs for the runs in this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if str(home).encode() in (entry / "environ").read_bytes():
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
    return [command for command in found if command and "pytest" not in command]


@sealed_only
def test_a_stack_comes_up_under_its_own_addresses_and_goes_without_a_trace(lab: Lab) -> None:
    up = lab("up", "trial")
    assert up.returncode == 0, up.stdout + up.stderr
    run = lab.run()
    assert "make lab-down STACK=trial" in up.stdout
    assert {path.stat().st_mode & 0o077 for path in (run.folder, run.passphrase, run.socket)} == {0}
    answer = lab("run", "trial", "--", "pulumi", "stack", "output", "--json")
    assert answer.stdout.strip() == '{\n  "password": "[secret]"\n}'
    assert [machine["address"] for machine in control.machines(at=run.socket)] == ["192.168.7.11", "192.168.7.21"]
    assert (lab.project / "Pulumi.trial.yaml").read_text() == STACK

    down = lab("down", "trial")
    assert (down.returncode, run.folder.exists(), run.socket.exists()) == (0, False, False)
    eventually(lambda: not processes_of(lab.home), what="every process to end")
    again = lab("down", "trial")
    assert (again.returncode, again.stdout) == (0, "the lab of trial is not up\n"), "ending what is not there is fine"


@pytest.mark.parametrize("command", ["start", "up"])
def test_two_at_once_take_turns_and_the_second_finds_it_up(lab: Lab, command: str) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    with ThreadPoolExecutor() as both:
        ended = [result.result() for result in [both.submit(lab, command, "trial") for _ in range(2)]]
    first, second = sorted(ended, key=lambda result: "is already up" in result.stdout)
    for result in ended:
        assert result.returncode == 0, result.stdout + result.stderr
    assert "is already up" not in first.stdout
    assert "==> waiting: another command" in second.stdout
    assert len([line for line in processes_of(lab.home) if "lab.world" in line]) == 1
    assert lab("down").returncode == 0
    assert list(lab.home.iterdir()) == []


@sealed_only
def test_what_is_left_running_inside_ends_with_the_lab(lab: Lab) -> None:
    assert lab("start", "trial").returncode == 0
    command = [sys.executable, "-m", "lab", "--project", str(lab.project), "run", "trial", "--", "sleep", "1000"]
    left = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"LAB_HOME": str(lab.home)})
    eventually(lambda: any("sleep 1000" in line for line in processes_of(lab.home)), what="the command to start")
    assert lab("down").returncode == 0
    assert left.wait(timeout=20) == 128 + signal.SIGTERM


@sealed_only
def test_a_lab_that_is_ended_while_it_comes_up_says_so(lab: Lab) -> None:
    begun = lab.project / "begun"
    (lab.project / "__main__.py").write_text(f"import time\nopen({str(begun)!r}, 'w')\ntime.sleep(1000)\n")
    with ThreadPoolExecutor() as other:
        up = other.submit(lab, "up", "trial")
        eventually(begun.exists, what="the program to begin")
        assert lab("down", "trial").returncode == 0
        ended = up.result()
    assert ended.returncode != 0
    assert ended.stdout.endswith("\nThe lab of trial was ended in the meantime.\n")
    assert list(lab.home.iterdir()) == []


def test_a_stack_on_loopback_runs_without_a_namespace(lab: Lab) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    started = lab("start", "trial", LAB_NETWORK="loopback")
    assert started.returncode == 0, started.stderr
    assert "no sealed network" in started.stdout
    assert lab("run", "trial", "--", "pulumi", "preview").returncode == 0
    assert lab("down").returncode == 0
    eventually(lambda: not processes_of(lab.home), what="every process to end")


def test_the_engine_has_nothing_to_warn_of_in_the_labs_plugins(lab: Lab) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    (lab.project / "__main__.py").write_text("import pulumiverse_talos as t\nt.machine.Secrets('machine-secrets')\n")
    previewed = lab("run", "trial", "--", "pulumi", "preview")
    assert previewed.returncode == 0, previewed.stdout + previewed.stderr
    assert "machine-secrets" in previewed.stdout
    assert "warning" not in previewed.stdout + previewed.stderr


def test_other_addresses_without_a_namespace_say_what_is_needed(lab: Lab) -> None:
    refused = lab("start", "trial", LAB_NETWORK="loopback")
    assert refused.returncode == 1
    assert refused.stderr.startswith(
        "Pulumi.trial.yaml uses addresses outside 127.0.0.0/8 (192.168.7.11, 192.168.7.21, 192.168.7.5), which need a "
        "sealed network namespace, and "
    )
    assert not lab.run().folder.exists()


def test_an_address_that_is_taken_is_named_before_anything_starts(lab: Lab) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    with socket.create_server(("127.0.77.11", 50000)), socket.create_server(("127.0.77.5", 6443)):
        refused = lab("start", "trial", LAB_NETWORK="loopback")
    assert refused.returncode == 1
    assert refused.stderr == (
        "something already listens at 127.0.77.11:50000, 127.0.77.5:6443, which the lab of trial needs; is it the"
        " lab of another checkout? Then `make lab-down` there, or else end what it is\n"
    )
    assert not lab.run().folder.exists()


def test_a_platform_without_a_stand_in_is_named(lab: Lab) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(STACK.replace("bare-metal", "openstack"))
    refused = lab("up", "trial")
    assert refused.returncode == 1
    assert "the lab has no stand-in for the platform openstack; it can rehearse bare-metal, proxmox" in refused.stderr


def test_a_lab_that_died_is_said_to_have_and_nothing_is_started_in_its_place(lab: Lab) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    assert lab("start", "trial").returncode == 0
    first = lab.run().settings()["pid"]
    os.kill(first, signal.SIGKILL)
    eventually(lambda: not lifecycle.is_world(first), what="the world to end")
    death = f"the lab of trial died with its machines: process {first} is gone; {lab.run().log} may say why."
    cure = "`make rehearse STACK=trial` brings a new one up, `make lab-down STACK=trial` removes what is left"
    for command in (
        ("shell", "trial"),
        ("run", "trial", "--", "true"),
        ("status", "trial"),
        ("power", "trial", "a", "on"),
    ):
        refused = lab(*command)
        assert (refused.returncode, refused.stdout, refused.stderr) == (1, "", f"{death} {cure}\n")
    every = lab("status")
    assert every.returncode == 1
    assert every.stdout.startswith(f"the lab of trial died: process {first} is gone; ")
    again = lab("start", "trial")
    assert again.returncode == 0
    assert f"the lab of trial died: process {first} is gone; this is a new one" in again.stdout
    assert lab.run().settings()["pid"] != first
    assert lab("run", "trial", "--", "true").returncode == 0


def test_faults_and_power_are_switched_from_the_command_line(lab: Lab) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    (lab.project / "Pulumi.other.yaml").write_text(LOOPBACK)
    assert lab("start", "trial").returncode == 0
    assert lab("fault", "trial", "cp-1", "drop", "every=4").stdout == "cp-1: drop every=4 answer=0\n"
    shown = lab("status", "trial").stdout
    assert "cp-1: drop every=4" in shown
    assert "no invariant was violated" in shown
    assert lab("fault", "trial", "cp-1", "drop", "--clear").stdout == "cp-1: no fault\n"
    assert "drop" not in lab("status").stdout
    assert "off" in lab("power", "trial", "w-1", "off").stdout
    assert "booting" in lab("power", "trial", "w-1", "on").stdout
    for arguments, message in [
        (("fault", "trial", "cp-9", "drop"), "there is no machine cp-9; there are: cp-1, w-1\n"),
        (("fault", "trial", "cp-1", "drop", "every"), "every: a fault's argument is KEY=NUMBER, like every=3\n"),
        (("fault", "trial", "cp-1", "drop", "every=1", "every=2"), "every=1 every=2: each argument is given once\n"),
        (("fault", "trial", "cp-1", "drop", "at=1"), "drop does not take 'at'; it takes every and answer\n"),
        (("fault", "trial", "cp-1", "drop", "every=1.5"), f"every of drop is 1.5; it must be {EVERY.means}\n"),
        (
            ("fault", "trial", "cp-1", "drop", "every=1", "--clear"),
            "--clear takes no numbers: leave out every=1\n",
        ),
        (("status", "other"), "the lab of other is not up; `make lab` or `make rehearse STACK=other` starts it\n"),
        *(((command, "nope"), NOPE.format(lab.project)) for command in ("status", "shell", "down")),
    ]:
        refused = lab(*arguments)
        assert (refused.returncode, refused.stderr) == (1, message)


def test_a_machine_added_to_the_stack_file_is_racked_before_the_engine_runs(lab: Lab) -> None:
    path = lab.project / "Pulumi.trial.yaml"
    path.write_text(LOOPBACK)
    assert lab("start", "trial").returncode == 0
    path.write_text(LOOPBACK + "      - {name: w-2, role: worker, address: 127.0.77.22}\n")
    assert lab("run", "trial", "--", "pulumi", "preview").returncode == 0
    names = [machine["name"] for machine in control.machines(at=lab.run().socket)]
    assert names == ["cp-1", "w-1", "w-2"]


def test_the_exit_code_is_that_of_the_command_inside(lab: Lab) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    assert lab("run", "trial", "--", "sh", "-c", "exit 7").returncode == 7
    assert lab("run", "trial").returncode == 1
    assert lab("nonsense").returncode == 2


@pytest.mark.parametrize("name", ["..", "../project", "a/b", ".engine"])
def test_what_is_not_the_name_of_a_stack_is_never_removed(lab: Lab, name: str) -> None:
    refused = lab("down", name)
    assert refused.returncode == 2
    assert f"{name!r} is not the name of a stack" in refused.stderr
    assert lab.project.exists()


def test_a_program_that_fails_leaves_the_lab_up_and_its_code(lab: Lab) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    (lab.project / "__main__.py").write_text("import pulumi\nraise pulumi.RunError('the stack is wrong')\n")
    failed = lab("up", "trial")
    assert failed.returncode != 0
    assert "error: the stack is wrong" in failed.stdout
    assert "The lab stays up" in failed.stdout
    assert "make recover" not in failed.stdout
    assert lifecycle.alive(lab.run())


def test_a_run_that_was_killed_names_the_command_that_makes_the_stack_ready_again(lab: Lab) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    program = lab.project / "__main__.py"
    healthy = program.read_text()
    program.write_text("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n")
    cure = "  .venv/bin/python -m lab run trial -- make recover STACK=trial\n"
    killed = lab("up", "trial")
    assert killed.returncode == 128 + signal.SIGKILL
    assert killed.stdout.endswith(f"Before the next one:\n{cure}Again: make rehearse STACK=trial\n")
    program.write_text(healthy)
    again = lab("run", "trial", "--", "pulumi", "up", "--yes", "--skip-preview")
    assert "currently locked" in again.stderr and again.stderr.endswith(cure)
    assert lab("run", "trial", "--", sys.executable, "-m", "engine", "recover", "--stack", "trial").returncode == 0
    assert lab("up", "trial").returncode == 0


def test_operations_that_never_ended_are_read_from_the_state(tmp_path: Path) -> None:
    stacks = tmp_path / ".pulumi" / "stacks" / "talos-stacks"
    stacks.mkdir(parents=True)
    files = StateFiles(f"file://{tmp_path}", "trial")
    assert files.pending() == []
    for latest, count in [("null", 0), ("{}", 0), ('{"pending_operations": [{"type": "creating"}]}', 1), ("{", 0)]:
        (stacks / "trial.json").write_text(f'{{"version": 3, "checkpoint": {{"latest": {latest}}}}}')
        assert len(files.pending()) == count


def test_a_home_that_is_no_folder_is_refused(lab: Lab, tmp_path: Path) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    (file := tmp_path / "file").touch()
    (loop := tmp_path / "loop").symlink_to("loop")
    for home, reason in [
        (file, f"{file} is a file"),
        (file / "below", f"{file} is a file"),
        (loop, "its links lead to themselves"),
        (tmp_path / "a:b", "PATH cannot hold a ':'"),
        (tmp_path / ("a" * 300), "File name too long"),
    ]:
        refusal = f"LAB_HOME is '{home}': {reason}; name a folder, or leave it out for .lab/ in the checkout\n"
        for command in (["up", "trial"], ["status"], ["down"]):
            refused = lab(*command, LAB_HOME=str(home))
            assert (refused.returncode, refused.stdout, refused.stderr) == (1, "", refusal)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("LAB_PLUGINS", "rael", "it can be 'real', or left out to use the stand-in for the Talos provider"),
        ("LAB_NETWORK", "none", "it can be 'loopback', or left out to seal the network where that is possible"),
        ("LAB_IMPORT", "true", "it can be 'yes', or left out to make machine secrets up"),
        ("LAB_SPEED", "fast", "it must be a number above 0: simulated seconds per real second"),
    ],
)
def test_a_setting_that_nobody_knows_is_refused(lab: Lab, variable: str, value: str, message: str) -> None:
    for command in ("start", "up"):
        refused = lab(command, "trial", **{variable: value})
        assert (refused.returncode, refused.stderr) == (1, f"{variable} is {value!r}; {message}\n")
    assert not lab.home.exists()


def test_settings_that_come_too_late_are_said_to_be_ignored(lab: Lab) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    assert lab("start", "trial", LAB_SPEED="40").returncode == 0
    ignored = "is ignored: this lab was started with other settings; `make lab-down` ends it\n"
    assert f"==> LAB_SPEED=30 {ignored}" in lab("start", "trial", LAB_SPEED="30").stdout
    told = lab("run", "trial", "--", "true", LAB_SPEED="40.0", LAB_PLUGINS="real")
    assert (told.returncode, told.stderr) == (0, f"==> LAB_PLUGINS=real {ignored}")
    assert lab("run", "trial", "--", "true", LAB_SPEED="40").stderr == ""


def test_everything_that_is_wrong_is_said_before_anything_is_started(lab: Lab) -> None:
    wrong = LOOPBACK.replace("role: worker", "role: servant").replace("interface: eth0", "interfaces: eth0")
    (lab.project / "Pulumi.trial.yaml").write_text(wrong)
    refused = lab("up", "trial")
    assert refused.returncode == 1
    checked = subprocess.run(
        [sys.executable, "-m", "cli", "check", "--project", str(lab.project), "--stack", "trial"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert refused.stdout == checked.stdout
    assert "nodes[1].role" in checked.stdout and "network.interfaces" in checked.stdout
    assert refused.stderr == "nothing was started\n"
    assert not lab.home.exists()


def test_a_secret_that_nobody_set_yet_is_made_up_after_a_warning(lab: Lab) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    patch = "machine: {sysctls: {kernel.domainname: {{ secret(name='mine') | flow }}}}\n"
    (lab.project / "patches/all/70-own.yaml.j2").write_text(patch)
    program = "import pulumi\npulumi.export('length', pulumi.Config().require_secret('mine').apply(len))\n"
    (lab.project / "__main__.py").write_text(program)
    up = lab("up", "trial")
    assert up.returncode == 0, up.stdout + up.stderr
    assert "warning: Pulumi.trial.yaml: talos-stacks:mine: is missing" in up.stderr
    assert "mine" not in (lab.project / "Pulumi.trial.yaml").read_text()


def test_asking_a_world_that_is_not_there_is_an_error_of_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(control.ControlError, match=r"no lab answers at .*; `make lab` starts one"):
        control.machines(at=tmp_path / "none.sock")
    monkeypatch.delenv(control.VARIABLE, raising=False)
    with pytest.raises(control.ControlError, match="LAB_SOCKET is not set: this runs outside the lab"):
        control.machines()


def test_real_plugins_that_are_missing_are_named(lab: Lab, tmp_path: Path) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    home = tmp_path / "pulumi-home"
    refused = lab("start", "trial", LAB_PLUGINS="real", PATH=path, PULUMI_HOME=str(home))
    assert refused.returncode == 1
    assert refused.stderr.startswith(
        f"LAB_PLUGINS=real: pulumi-resource-talos is neither on PATH nor in {home}/plugins; install it"
    )


def test_real_plugins_take_the_place_of_the_stand_ins_but_not_of_the_hypervisor(lab: Lab, tmp_path: Path) -> None:
    (lab.project / "Pulumi.trial.yaml").write_text(LOOPBACK)
    installed = tmp_path / "pulumi-home" / "plugins" / "resource-talos-v0.8.1" / "pulumi-resource-talos"
    installed.parent.mkdir(parents=True)
    installed.touch(mode=0o755)
    assert lab("start", "trial", LAB_PLUGINS="real", PULUMI_HOME=str(tmp_path / "pulumi-home")).returncode == 0
    run = lab.run()
    assert not (run.bin / "pulumi-resource-talos").exists()
    assert (run.bin / "pulumi-resource-proxmoxve").exists()
    assert (run.folder / "home" / "plugins" / installed.parent.name / installed.name).exists()
    assert lab("start", "trial").returncode == 0, "the next start may choose otherwise"
    assert (run.bin / "pulumi-resource-talos").exists()
    assert installed.exists()
    assert lab("down").returncode == 0
    assert installed.exists(), "what is the user's own stays"
