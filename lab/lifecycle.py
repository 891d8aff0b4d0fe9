"""Starting and ending the world of a run: everything that is started here is gone after ``stop``."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from engine import ROOT, processes
from engine.locks import hold
from engine.tools import PULUMI, binary
from lab import control, namespace, network, plugins, project
from lab.errors import LabError
from lab.run import Run
from lab.settings import HOME, ignored, speed
from lab.stackfile import StackFile
from lab.tools import ETCD, ETCDUTL

START_TIMEOUT = 30.0
"""Seconds."""

Say = Callable[[str], None]


def start(run: Run, stack: StackFile, say: Say) -> None:
    """Bring the world of ``stack`` up; one that already is stays, with its machines."""
    check_platform(stack)
    with in_turn(run, say):
        if alive(run):
            say(f"==> the lab of {run.stack} is already up")
            equip(run, stack, binary(PULUMI, say))
            tell_ignored(run, say)
            project.add_machines(stack, run)
        else:
            if death := cause_of_death(run):
                say(f"==> the lab of {run.stack} died: {death}; this is a new one")
            begin(run, stack, say)
        initialise(run)


def in_turn(run: Run, say: Say) -> AbstractContextManager[None]:
    """Start and end the world of a run one after the other, whoever asks for it."""
    return hold(run.lock("world"), lambda: say(f"==> waiting: another command starts or ends the lab of {run.stack}"))


def begin(run: Run, stack: StackFile, say: Say) -> None:
    """Make the world of ``stack`` anew."""
    sealed = network.choose(stack, say)
    engine, etcd, etcdutl = (binary(tool, say) for tool in (PULUMI, ETCD, ETCDUTL))
    end(run)  # what a killed run left
    if not sealed:
        network.refuse_taken(stack)
    run.create()
    run.save(
        stack=run.stack,
        root=str(stack.path.parent),
        sealed=sealed,
        outer=namespace.network_of("self") if sealed else "",
        etcd=str(etcd),
        etcdutl=str(etcdutl),
        speed=speed(),
    )
    equip(run, stack, engine)
    launch(run)
    where = "in a sealed network namespace" if sealed else "on loopback addresses"
    say(f"==> the lab of {run.stack} is up {where}, with {len(stack.hardware())} machines")


def equip(run: Run, stack: StackFile, engine: Path) -> None:
    """Write what a command inside finds: plugins, the project, the stack file with lab secrets."""
    plugins.write(run, engine, stack.path)
    plugins.share_installed(run)
    run.save(real_plugins=plugins.real_plugins())
    project.write(stack, run, stack.path.parent)


def tell_ignored(run: Run, say: Say) -> None:
    """Say which variables ask for another lab than the one that is up."""
    if settings := ignored(run.settings()):
        say(f"==> {' '.join(settings)} is ignored: this lab was started with other settings; `make lab-down` ends it")


def initialise(run: Run) -> None:
    """Make the Pulumi stack of a run, empty, unless it is there."""
    if not list((run.folder / "state").rglob(f"stacks/**/{run.stack}.json")):
        command = [str(run.bin / "pulumi"), "stack", "init", run.stack]
        made = subprocess.run(command, env=run.environment(), capture_output=True, text=True, check=False)
        if made.returncode:
            raise LabError(f"pulumi cannot make the stack {run.stack} in the lab:\n{made.stdout}{made.stderr}".rstrip())


def check_platform(stack: StackFile) -> None:
    """Refuse a stack whose platform nothing here stands in for, and real plugins that are not there."""
    if plugins.missing():
        raise LabError(
            f"LAB_PLUGINS=real: {', '.join(plugins.missing())} is neither on PATH nor in {plugins.installed()}; "
            "install it, or leave LAB_PLUGINS out to use the stand-in"
        )
    if stack.platform not in plugins.PLATFORMS:
        known = ", ".join(plugins.PLATFORMS)
        raise LabError(
            f"{stack.path.name}: the lab has no stand-in for the platform {stack.platform or 'of this stack'}; "
            f"it can rehearse {known}. `make preview STACK={stack.name}` needs no platform."
        )


def launch(run: Run) -> None:
    """Start the world's process and wait until it listens."""
    with run.log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "lab.world", run.stack],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=os.environ | {HOME: str(run.home)},
        )
    run.save(pid=process.pid)
    deadline = time.monotonic() + START_TIMEOUT
    while not run.settings().get("ready"):
        if process.poll() is not None or time.monotonic() > deadline:
            last = run.log.read_text(errors="replace").strip().splitlines()[-8:]
            end(run, keep=True)
            raise LabError("the lab's world did not start:\n  " + "\n  ".join(last or [f"see {run.log}"]))
        time.sleep(0.02)


def is_world(pid: int) -> bool:
    """Tell whether this process is a world of the lab; numbers of ended processes are used again."""
    return "lab.world" in processes.command_of(pid)


def alive(run: Run) -> bool:
    """Tell whether the run's world is there, answers, and is not about to end."""
    settings = run.settings()
    pid = settings.get("pid")
    if settings.get("ending") or not pid or not is_world(pid):
        return False
    try:
        control.status(at=run.socket)
    except control.ControlError:
        return False
    return True


def cause_of_death(run: Run) -> str:
    """Return how a lab ended that nobody has ended; empty for one that lives, was ended or never was."""
    settings = run.settings()
    if not settings.get("ready") or settings.get("ending") or alive(run):
        return ""
    pid = settings["pid"]
    return f"process {pid} does not answer" if is_world(pid) else f"process {pid} is gone"


def refuse_dead(run: Run) -> None:
    """Raise LabError for a lab that died: its machines are gone, and another one would be without a cluster."""
    if death := cause_of_death(run):
        raise LabError(
            f"the lab of {run.stack} died with its machines: {death}; {run.log} may say why."
            f" `make rehearse STACK={run.stack}` brings a new one up, `make lab-down STACK={run.stack}` removes what is"
            " left"
        )


def stop(run: Run, say: Say, keep: bool = False) -> bool:
    """End the run's world and everything inside it, and remove what it left; return whether there was anything."""
    if not run.folder.exists():
        return False
    with in_turn(run, say):
        return end(run, keep)


def end(run: Run, keep: bool = False) -> bool:
    """Do what ``stop`` does, for who has the turn."""
    settings = run.settings()
    pid = int(settings.get("pid") or 0)
    if pid and is_world(pid):
        run.save(ending=True)  # whoever waits for what runs inside looks at it when that has ended
        others = namespace.inside(pid, str(settings.get("outer", ""))) if settings.get("sealed") else []
        processes.end(others)
        try:
            control.shutdown(at=run.socket)
        except control.ControlError:
            processes.send([pid], signal.SIGTERM)
        processes.wait_until(lambda: not is_world(pid))
        if settings.get("sealed"):
            processes.send(namespace.inside(pid, str(settings.get("outer", ""))), signal.SIGKILL)
        with contextlib.suppress(OSError):  # nothing of it is left
            os.killpg(pid, signal.SIGKILL)
        processes.wait_until(lambda: not is_world(pid))
    existed = run.folder.exists()
    if not keep:
        run.remove()
    return existed
