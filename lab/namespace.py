"""A sealed network for one run of the lab: a Linux network namespace where every IPv4 address is this machine's own.

Owned here: making the namespace (with a user namespace where the caller is not root), its one route, the files that
names are resolved from, and entering it again. Nothing inside reaches anything outside: the only interface is ``lo``.
Uses the kernel's calls directly, so neither iproute2 nor util-linux is needed.

``python -m lab.namespace PID COMMAND ...`` runs a command inside the namespace of process PID.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Mapping
from ipaddress import IPv4Address, ip_network
from pathlib import Path

from lab import loopback

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
LOOPBACK = ip_network("127.0.0.0/8")

SWITCHES = {
    "kernel/unprivileged_userns_clone": ("0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    "kernel/apparmor_restrict_unprivileged_userns": ("1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
    "user/max_user_namespaces": ("0", "sysctl -w user.max_user_namespaces=10000"),
    "user/max_net_namespaces": ("0", "sysctl -w user.max_net_namespaces=10000"),
}
"""Kernel settings that forbid namespaces: the value that does, and the command that lifts it."""


class NamespaceError(Exception):
    """A namespace that cannot be made or entered; the text says what to enable."""


def obstacle() -> str | None:
    """Return None where sealed namespaces can be made, else what stands in the way and how to lift it."""
    if sys.platform != "linux":
        return "network namespaces need Linux; on macOS and Windows use a Linux virtual machine, a container or WSL 2"
    probe = subprocess.run(
        [sys.executable, "-m", "lab.namespace"], cwd=Path(__file__).parents[1], capture_output=True, text=True
    )
    if probe.returncode == 0:
        return None
    cures = [cure for name, (value, cure) in SWITCHES.items() if _sysctl(name) == value]
    advice = f"as root: {'; '.join(cures)}" if cures else "in a container, start it with --privileged or SYS_ADMIN"
    return f"the kernel refuses a network namespace ({probe.stderr.strip()}); {advice}"


def needs_namespace(addresses: list[IPv4Address]) -> list[IPv4Address]:
    """Return those addresses that a machine without a namespace does not answer at."""
    return [address for address in addresses if address not in LOOPBACK]


def seal(files: Mapping[Path, Path]) -> None:
    """Move this single-threaded process into a new sealed namespace where ``files`` (target: source) are other files.

    Raises NamespaceError when the kernel refuses.
    """
    try:
        _unshare()
        _call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
        for target, source in files.items():
            if target.exists():
                _call("mount", os.fsencode(source), os.fsencode(target.resolve()), None, MS_BIND, None)
        loopback.up()
        loopback.every_address_is_local()
    except OSError as error:
        raise NamespaceError(str(error)) from error


def enter(pid: int) -> None:
    """Move this single-threaded process into the namespaces of process ``pid``; the working directory stays."""
    here = Path.cwd()
    try:
        handles = [(kind, os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)) for kind in ("user", "net", "mnt")]
        for kind, handle in handles:
            if _identity("self", kind) != _identity(pid, kind):
                _call("setns", handle, 0)
            os.close(handle)
    except OSError as error:
        raise NamespaceError(f"cannot enter the lab's namespace ({error}); is the lab still up?") from error
    os.chdir(here)


def network_of(process: int | str) -> str:
    """Return what identifies the network namespace of a process; raises OSError when it is gone."""
    return _identity(process, "net")


def inside(pid: int, outer: str) -> list[int]:
    """Return the other processes in the sealed network of ``pid``, but neither this one nor those that started it.

    ``outer`` identifies the network the lab was started from; a process that was never sealed has no company.
    """
    try:
        wanted = network_of(pid)
    except OSError:
        return []
    spared = {pid, *_ancestors(os.getpid())}
    if not outer or wanted == outer:
        return []
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) not in spared:
            try:
                if network_of(entry.name) == wanted:
                    found.append(int(entry.name))
            except OSError:  # ended meanwhile, or another user's
                continue
    return found


def _ancestors(pid: int) -> list[int]:
    chain = []
    while pid > 1:
        chain.append(pid)
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
    return chain


def _identity(process: int | str, kind: str) -> str:
    return str(Path(f"/proc/{process}/ns/{kind}").readlink())


def _unshare() -> None:
    """Make the namespaces; only a caller without the right to do so needs a user namespace."""
    if os.geteuid() == 0:
        try:
            return _call("unshare", CLONE_NEWNET | CLONE_NEWNS)
        except OSError:  # root of a container
            pass
    user, group = os.geteuid(), os.getegid()
    _call("unshare", CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    return None


def _call(name: str, *arguments: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def _sysctl(name: str) -> str | None:
    try:
        return (Path("/proc/sys") / name).read_text().strip()
    except OSError:
        return None


def main(arguments: list[str]) -> int:
    """Run a command inside; without arguments only find out whether a namespace can be made."""
    try:
        if not arguments:
            seal({})
            return 0
        enter(int(arguments[0]))
        os.execvp(arguments[1], arguments[1:])  # noqa: S606
    except NamespaceError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"{arguments[1]}: {error.strerror}\n")
        return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
