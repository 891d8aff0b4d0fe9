"""The stand-in for the language host, under the real engine."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from lab.run import ROOT
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


def test_it_ends_quietly_on_an_interrupt() -> None:
    host = start()
    host.send_signal(signal.SIGINT)
    out, err = host.communicate(timeout=10)
    assert (host.returncode, out, err) == (0, "", "")


def test_it_ends_with_the_engine_that_started_it() -> None:
    command = f"'{sys.executable}' -P '{ROOT}/lab/languagehost.py' 127.0.0.1:1 & echo $!; wait"
    parent = subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    host = int(parent.stdout.readline())
    assert parent.stdout.readline().strip().isdigit()
    parent.kill()
    parent.wait()
    eventually(lambda: not alive(host), what="the host to end")


def start() -> "subprocess.Popen[str]":
    host = subprocess.Popen(
        [sys.executable, "-P", f"{ROOT}/lab/languagehost.py", "127.0.0.1:1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert host.stdout
    assert host.stdout.readline().strip().isdigit()
    return host


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
