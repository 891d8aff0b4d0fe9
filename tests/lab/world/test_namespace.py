"""The sealed network."""

import os
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from engine import ROOT
from lab import namespace

SEALED = """
import sys
from pathlib import Path
from lab import namespace
namespace.seal({Path("/etc/hosts"): Path(sys.argv[1])})
print("sealed", flush=True)
sys.stdin.read()
"""
PROBE = """
import socket
with socket.create_server(("192.168.1.121", 443)) as server:
    with socket.create_connection(("192.168.1.121", 443)) as client:
        print(client.getpeername()[0])
print(socket.gethostbyname("factory.example.org"))
for target in ("192.0.2.77", "1.1.1.1"):
    try:
        socket.create_connection((target, 53), timeout=5)
    except OSError as error:
        print(error.strerror)
print(sorted(name for _, name in socket.if_nameindex()))
"""

needs_namespaces = pytest.mark.skipif(namespace.obstacle() is not None, reason=f"{namespace.obstacle()}")


@pytest.fixture
def sealed(tmp_path: Path) -> Iterator[int]:
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n192.0.2.1 factory.example.org\n")
    process = subprocess.Popen(
        [sys.executable, "-c", SEALED, str(hosts)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout
    assert process.stdout.readline() == b"sealed\n"
    yield process.pid
    process.communicate()


def inside(pid: int, *command: str) -> "subprocess.CompletedProcess[str]":
    enter = [sys.executable, str(ROOT / "lab" / "enter.py"), str(pid), *command]
    return subprocess.run(enter, capture_output=True, text=True, cwd=ROOT / "tests", timeout=60)


@needs_namespaces
def test_every_address_answers_inside_and_nothing_outside_can_be_reached(sealed: int) -> None:
    result = inside(sealed, sys.executable, "-c", PROBE)
    assert result.stdout.splitlines() == [
        "192.168.1.121",
        "192.0.2.1",
        "Connection refused",
        "Connection refused",
        "['lo']",
    ], result.stderr


@needs_namespaces
def test_a_command_inside_keeps_its_folder_and_its_exit_code(sealed: int) -> None:
    result = inside(sealed, "sh", "-c", "pwd; exit 7")
    assert (result.returncode, result.stdout.strip()) == (7, str(ROOT / "tests"))


@needs_namespaces
def test_a_command_that_is_not_there_is_said_in_one_line(sealed: int) -> None:
    result = inside(sealed, "no-such-command")
    assert (result.returncode, result.stderr) == (127, "no-such-command: No such file or directory\n")


@needs_namespaces
def test_what_runs_inside_is_found_and_nothing_else(sealed: int) -> None:
    outer = namespace.network_of("self")
    command = [sys.executable, str(ROOT / "lab" / "enter.py"), str(sealed), "sh", "-c", "echo in; read line"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout
    process.stdout.readline()
    assert namespace.inside(sealed, outer) == [process.pid]
    assert namespace.inside(os.getpid(), outer) == [], "a process that is not sealed has no company"
    process.communicate(b"\n")


def test_a_namespace_that_is_gone_says_so(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    result = inside(ended.pid, "true")
    assert result.returncode == 1
    assert "is the lab still up?" in result.stderr


def test_only_addresses_outside_loopback_need_a_namespace() -> None:
    addresses = [IPv4Address("127.0.10.5"), IPv4Address("10.0.0.1")]
    assert namespace.needs_namespace(addresses) == [IPv4Address("10.0.0.1")]


def test_an_obstacle_names_what_to_enable(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = subprocess.CompletedProcess([], 1, "", "unshare: Operation not permitted\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: refused)
    monkeypatch.setattr(namespace, "_sysctl", lambda name: "0" if name == "kernel/unprivileged_userns_clone" else None)
    assert namespace.obstacle() == (
        "the kernel refuses a network namespace (unshare: Operation not permitted); "
        "as root: sysctl -w kernel.unprivileged_userns_clone=1"
    )
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "need Linux" in (namespace.obstacle() or "")
