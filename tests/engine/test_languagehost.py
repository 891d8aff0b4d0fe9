"""The stand-in for the language host, under the real engine."""

import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine import ROOT
from tests.waiting import eventually

Pulumi = Callable[..., "subprocess.CompletedProcess[str]"]
Program = Callable[[str], Pulumi]

COMPONENTS = """\
import pulumi
import helper

helper.runs += 1
pulumi.export("runs", helper.runs)
pulumi.export("root", pulumi.runtime.get_root_directory())
pulumi.export("token", pulumi.Output.secret("s3cret-token"))
stash = pulumi.Stash(
    "stash",
    input=pulumi.Config().get("value") or "one",
    opts=pulumi.ResourceOptions(
        hooks=pulumi.ResourceHookBinding(
            after_create=[pulumi.ResourceHook("after", lambda args: pulumi.log.info(f"hook saw {args.name}"))]
        )
    ),
)
pulumi.runtime.register_resource_transform(lambda args: pulumi.log.info(f"transform saw {args.name}"))
pulumi.Stash("second", input="two")
"""


def ok(result: "subprocess.CompletedProcess[str]") -> str:
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_a_stack_lives_through_preview_up_refresh_and_destroy(program: Program, tmp_path: Path) -> None:
    pulumi = program(COMPONENTS)
    home = tmp_path / "program"
    (home / "helper.py").write_text("runs = 0\n")
    assert "3 to create" in ok(pulumi("preview"))
    created = ok(pulumi("up", "--yes"))
    assert "hook saw stash" in created
    assert "transform saw second" in created
    assert ok(pulumi("stack", "output", "runs")).strip() == "1", "a run sees modules of the run before"
    assert ok(pulumi("stack", "output", "root")).strip() == str(home)
    assert "s3cret-token" not in ok(pulumi("stack", "output"))
    assert "3 unchanged" in ok(pulumi("up", "--yes"))
    assert "3 unchanged" in ok(pulumi("refresh", "--yes"))
    ok(pulumi("config", "set", "value", "changed"))
    assert "1 updated" in ok(pulumi("up", "--yes", "--skip-preview"))
    assert "3 deleted" in ok(pulumi("destroy", "--yes"))


def test_a_run_error_is_told_without_a_traceback(program: Program) -> None:
    result = program("import pulumi\nraise pulumi.RunError('nodes[2].address: already taken')\n")("preview")
    assert result.returncode != 0
    assert "error: nodes[2].address: already taken" in result.stdout
    assert "Traceback" not in result.stdout + result.stderr
    assert result.stdout.count("already taken") <= 2, "once in the progress, once in the diagnostics"


def test_any_other_error_comes_with_the_programs_own_frames(program: Program) -> None:
    result = program("def broken():\n    return 1 / 0\nbroken()\n")("preview")
    assert result.returncode != 0
    assert "Program failed with an unhandled exception" in result.stdout
    assert "in broken" in result.stdout
    assert "languagehost" not in result.stdout


def test_an_error_inside_an_output_fails_the_run(program: Program) -> None:
    text = "import pulumi\ndef f(_): raise pulumi.RunError('too late')\npulumi.Output.from_input(1).apply(f)\n"
    result = program(text)("preview")
    assert result.returncode != 0
    assert "error: too late" in result.stdout


def test_a_program_that_leaves_is_an_error_and_not_a_hang(program: Program) -> None:
    result = program("import sys\nsys.exit(3)\n")("preview")
    assert result.returncode != 0
    assert "SystemExit: 3" in result.stdout


def test_an_engine_outside_of_what_the_project_asks_for_refuses(program: Program, tmp_path: Path) -> None:
    pulumi = program("import pulumi\n")
    with (tmp_path / "program/Pulumi.yaml").open("a") as project:
        project.write("requiredPulumiVersion: '>=99.0.0'\n")
    for command in (["preview"], ["up", "--yes"], ["refresh", "--yes"], ["destroy", "--yes"]):
        result = pulumi(*command)
        assert result.returncode != 0
        assert 'does not satisfy the version range ">=99.0.0"' in result.stdout + result.stderr


@pytest.fixture
def address() -> Iterator[str]:
    """Where an engine would listen."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def host(address: str) -> list[str]:
    return [sys.executable, "-P", str(ROOT / "engine" / "languagehost.py"), address]


def test_it_ends_quietly_on_an_interrupt(address: str) -> None:
    started = subprocess.Popen(host(address), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert started.stdout
    assert started.stdout.readline().strip().isdigit()
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=10)
    assert (started.returncode, out, err) == (0, "", "")


def test_it_ends_with_the_engine_that_started_it(address: str) -> None:
    command = f"{shlex.join(host(address))} & echo $!; wait"
    parent = subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    pid = int(parent.stdout.readline())
    assert parent.stdout.readline().strip().isdigit()
    assert alive(pid)
    parent.kill()
    parent.wait()
    eventually(lambda: not alive(pid), what="the host to end")


def test_it_ends_when_the_engine_is_gone_before_it_has_begun() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    assert subprocess.run(host(address), capture_output=True, timeout=30).returncode == 0


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
